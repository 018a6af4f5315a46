import { Installation } from '@k8s-cloud-tagger/shared/testing/programs/installation.ts'
import { eventually } from '@k8s-cloud-tagger/shared/testing/programs/eventually.ts'
import { expect } from 'chai'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClusterReport } from './cluster-report.ts'

describe('the report on a cluster and a cloud', function () {
  this.timeout(40_000)
  let installation: Installation
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'report-'))
    installation = await Installation.start({
      config: { clusterName: 'prod', admission: { requiredLabels: ['team'] } },
    })
    await installation.kubernetes.createNamespace('db')
  })

  afterEach(async () => {
    await installation.stop()
    await rm(folder, { recursive: true })
  })

  function mutations(): readonly string[] {
    const writes = installation.kubernetes.log.entries.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
    return writes.map(({ verb, type, name }) => `${verb} ${type.plural} ${name}`)
  }

  it('says what would be added, changed and left alone, and writes nothing to the cluster or the cloud', async () => {
    installation.boundClaim({ namespace: 'db', name: 'new', labels: { team: 'core' } })
    installation.boundClaim({ namespace: 'db', name: 'old', labels: { team: 'core' } }, { team: 'nobody', Name: 'x' })
    installation.boundClaim({ namespace: 'db', name: 'right', labels: { team: 'core' } }, { team: 'core' })
    await installation.kubernetes.createClaim({ namespace: 'db', name: 'unbound' })
    const written = mutations().length

    const { code, stdout, stderr } = await installation.report()

    expect(stderr).to.equal('')
    expect(code).to.equal(0)
    const report = JSON.parse(stdout) as ClusterReport
    const shown = report.claims.map(({ name, state, reason, tags }) => [name, state, reason ?? tags.at(0)?.state])
    expect(shown).to.deep.equal([
      ['new', 'differs', 'add'],
      ['old', 'differs', 'change'],
      ['right', 'tagged', 'in-place'],
      ['unbound', 'pending', 'claim-unbound'],
    ])
    expect(report.wouldWrite).to.deep.equal({ disks: 2, add: 1, change: 1, remove: 0, cloudCalls: 1 })
    expect(report.calls).to.deep.equal({ cloud: { DescribeVolumes: 1 }, kubernetes: 2 })
    expect(report.claims.find(({ name }) => name === 'old')?.otherTags).to.equal(1)
    expect(mutations().slice(written)).to.deep.equal([])
    expect(installation.cloud.counts()['CreateTags']?.calls ?? 0).to.equal(0)
    expect(installation.cloud.counts()['DeleteTags']?.calls ?? 0).to.equal(0)
  })

  it('shows a disk that is gone and cloud calls that are denied for each claim, and exits with 1 for the latter', async () => {
    const { disk } = installation.boundClaim({ namespace: 'db', name: 'gone', labels: { team: 'core' } })
    installation.boundClaim({ namespace: 'db', name: 'there', labels: { team: 'core' } }, { team: 'core' })
    installation.cloud.removeVolume(disk)

    const gone = await installation.report(['--output', 'csv'])
    const refusal = { kind: 'error', code: 'UnauthorizedOperation', status: 403 } as const
    installation.cloud.inject(refusal, { action: 'DescribeVolumes', times: Infinity })
    const denied = await installation.report(['--output', 'json'])

    expect(gone.code).to.equal(0)
    expect(gone.stdout).to.include('gone').and.include('missing,disk-not-found')
    expect(denied.code).to.equal(1)
    expect(denied.stderr).to.include('not complete')
    const report = JSON.parse(denied.stdout) as ClusterReport
    expect(report.complete).to.equal(false)
    expect(report.unread.map(({ what }) => what)).to.deep.equal(['disks'])
    expect(report.claims.map(({ state, reason }) => [state, reason])).to.deep.equal([
      ['unread', 'denied'],
      ['unread', 'denied'],
    ])
  })

  it('makes no cloud call with --no-cloud, and reads the records', async () => {
    installation.boundClaim({ namespace: 'db', name: 'data', labels: { team: 'core' } }, { team: 'core' })

    const { code, stdout } = await installation.report(['--no-cloud', '--namespace', 'db'])

    expect(code).to.equal(0)
    const report = JSON.parse(stdout) as ClusterReport
    expect(report.source).to.equal('records')
    expect(report.claims.map(({ state }) => state)).to.deep.equal(['differs'])
    expect(installation.cloud.counts()['DescribeVolumes']?.calls ?? 0).to.equal(0)
  })

  it('fails under a coverage that is asked for, with exit code 3', async () => {
    installation.boundClaim({ namespace: 'db', name: 'new', labels: { team: 'core' } })
    installation.boundClaim({ namespace: 'db', name: 'right', labels: { team: 'core' } }, { team: 'core' })

    const under = await installation.report(['--fail-under', '50.1'])
    const enough = await installation.report(['--fail-under', '50%'])

    expect([under.code, enough.code]).to.deep.equal([3, 0])
    expect(under.stderr).to.include('coverage is 50.0 %')
  })

  it('tells where the claims cannot be listed, and gives no report that would look empty', async () => {
    const isOfClaims = ({ type }: { type: { plural: string } }) => type.plural === 'persistentvolumeclaims'
    installation.kubernetes.faults.add(Infinity, isOfClaims, { kind: 'status', code: 403 })

    const { code, stdout, stderr } = await installation.report()

    expect(code).to.equal(1)
    expect(stdout).to.equal('')
    expect(stderr).to.include('cannot report')
  })

  it('ends at once on SIGINT, and says that nothing was written', async () => {
    const reached = Promise.withResolvers<void>()
    const never = new Promise<void>(() => {})
    installation.boundClaim({ namespace: 'db', name: 'data', labels: { team: 'core' } })
    installation.onCloudCall(() => {
      reached.resolve()
      return never
    })

    const process = await installation.launchReport()
    await reached.promise
    const startMs = performance.now()
    process.interrupt()
    const { code } = await process.exited

    expect(code).to.equal(130)
    expect(performance.now() - startMs).to.be.below(3000)
    expect(process.stdout).to.equal('')
    expect(process.stderr).to.include('interrupted; nothing was written')
  })

  it('merges files into one page, and refuses a cluster that is there twice', async () => {
    installation.boundClaim({ namespace: 'db', name: 'data', labels: { team: 'core' } })
    const [a, b, page] = ['a.json', 'b.json', 'fleet.html'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    await installation.report(['--file', a])
    await installation.report(['--file', b, '--cluster', 'dev'])

    const merged = await installation.report(['--merge', a, b, '--file', page])
    const twice = await installation.report(['--merge', a, b, a])

    expect(merged.code).to.equal(0)
    expect(await readFile(page, 'utf8'))
      .to.include('Disk tags of 2 clusters')
      .and.include('prod')
      .and.include('dev')
    expect(twice.code).to.equal(2)
    expect(twice.stderr).to.include('cluster "prod" is in').and.include('already')
  })

  it('explains itself, tells its version and refuses what it does not know', async () => {
    const config = join(folder, 'bad.yaml')
    await writeFile(config, 'cloudProvider: gpc\n')

    const [help, version, unknown, bad] = await Promise.all([
      installation.report(['--help']),
      installation.report(['--version']),
      installation.report(['--dry-run']),
      installation.report(['--config', config]),
    ])

    expect([help.code, version.code, unknown.code, bad.code]).to.deep.equal([0, 0, 2, 2])
    expect(help.stdout).to.include('--no-cloud')
    expect(version.stdout).to.match(/^\d+\.\d+\.\d+\n$/)
    expect(unknown.stderr).to.include('--dry-run')
    expect(bad.stderr).to.include('cloudProvider: "gpc", must be one of')
  })

  it('tells on standard error how far it is', async () => {
    for (let i = 0; i < 3; i++)
      installation.boundClaim({ namespace: 'db', name: `data-${i}`, labels: { team: 'core' } })
    const isOfVolumes = ({ type }: { type: { plural: string } }) => type.plural === 'persistentvolumes'
    installation.kubernetes.faults.add(1, isOfVolumes, { kind: 'delay', delayMs: 3200 })

    const process = await installation.launchReport()
    await eventually('a line of progress', () => process.stderr.includes('reading volumes: 3'), 20_000)
    await process.exited

    expect(JSON.parse(process.stdout)).to.have.property('complete', true)
  })
})
