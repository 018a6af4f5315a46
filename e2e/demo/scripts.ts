import { ExpectedDisks } from './acts/expected-disks.ts'
import { brokerGroup, claimIsRelabelled, claimLosesLabel, claimsAppear, manyClaimsAppear } from './acts/everyday.ts'
import {
  programsStart,
  putKnownClaims,
  strangersClaims,
  tagsAreChangedByHand,
  webhookIsAway,
  webhookIsBack,
} from './acts/hard-days.ts'
import { ClaimLedger } from './ledger/claim-ledger.ts'
import { claimReport } from './own-manifests/claim-report.ts'
import { ownActs } from './own-manifests/own-acts.ts'
import { prepareCluster, refusals } from './own-manifests/own-cluster.ts'
import { type OwnObjects, ownObjects } from './own-manifests/own-objects.ts'
import { readFolder } from './own-manifests/read-folder.ts'
import { play, type PlayOptions } from './play.ts'
import { createStorageClass, World } from './world/world.ts'

/** The audience: who looks, and for how long. */
export interface Show extends Pick<PlayOptions, 'view' | 'elapsedMs' | 'readingMs'> {
  /** A folder of this run's own. */
  readonly folder: string
}

const title = 'k8s-cloud-tagger at work. Kubernetes API and EC2 are stand-ins on this machine.'

/** The play that is made up here. Resolves to the exit code. */
export async function runOurScript(show: Show): Promise<number> {
  show.view.keep([title, ''])
  const world = await World.build(show.folder)
  const expected = new ExpectedDisks(world.cloud)
  await createStorageClass(world.kubernetes, 'gp3', { provisioner: 'ebs.csi.aws.com', isDefault: true })
  await createStorageClass(world.kubernetes, 'efs', { provisioner: 'efs.csi.aws.com' })
  const volume = await putKnownClaims({ world, expected })
  const stage = { world, expected, ledger: openLedger(world, show, brokerGroup) }
  const acts = [
    programsStart(),
    claimsAppear(),
    manyClaimsAppear(),
    claimIsRelabelled(),
    claimLosesLabel(),
    strangersClaims(volume),
    tagsAreChangedByHand(),
    webhookIsAway(),
    webhookIsBack(),
  ]
  return (await play(acts, { ...show, stage })) ? 0 : 1
}

/** The person's own manifests, read and found usable before anything is started. Resolves to the exit code. */
export async function runOwnManifests(folder: string, show: Show, fail: (text: string) => void): Promise<number> {
  const { objects: sources, problems: unreadable } = await readFolder(folder)
  const objects = ownObjects(sources)
  const problems = [...unreadable, ...objects.problems]
  if (problems.length === 0 && objects.claims.length === 0) problems.push(`${folder}: no PersistentVolumeClaim in it`)
  if (problems.length > 0) return refuse(problems, fail)

  const world = await World.build(show.folder)
  await prepareCluster(world, objects)
  const refused = await refusals(world, objects)
  if (refused.length > 0) return refuse(refused, fail)

  show.view.keep([title, ...contents(objects), ''])
  const stage = { world, expected: new ExpectedDisks(world.cloud), ledger: openLedger(world, show) }
  const isRight = await play(ownActs(objects), {
    ...show,
    stage,
    report: () => claimReport(stage.ledger.entries, world.kubernetes.events(), show.view),
  })
  return isRight ? 0 : 1
}

function openLedger(world: World, { view }: Show, groupOf?: (key: string) => string | undefined): ClaimLedger {
  return new ClaimLedger({
    cloud: world.cloud,
    kubernetes: world.kubernetes,
    ...(groupOf !== undefined && { groupOf }),
    onEvent: ({ key, group }, what) => {
      // What happens to forty claims at once is summed up by its act.
      if (group === undefined) view.event(`${key.padEnd(16)} ${what}`)
    },
    onError: (error) => {
      throw error
    },
  })
}

const expectedContent = `Expected is a folder with manifests of PersistentVolumeClaims, and of PersistentVolumes, Namespaces,
StorageClasses and StatefulSets where they matter: as you would apply them, or as written by
kubectl get pvc,pv,sc --all-namespaces -o yaml`

function refuse(problems: readonly string[], fail: (text: string) => void): number {
  fail(`${problems.join('\n')}\n\n${expectedContent}\n`)
  return 2
}

function contents({ claims, volumes, leftOut }: OwnObjects): readonly string[] {
  const others = [...leftOut].map(([kind, count]) => `${count} ${kind}`)
  const ignored = others.length === 0 ? '' : `; left out: ${others.join(', ')}`
  return [`Your manifests: ${claims.length} claims, ${volumes.length} volumes${ignored}`]
}
