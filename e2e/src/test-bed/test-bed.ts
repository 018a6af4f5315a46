import type { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { controlPlaneBinaries, ensureBinaries } from '../binaries.ts'
import { certManagerBinaries } from '../cert-manager.ts'
import type { Cluster } from '../cluster.ts'
import { whyNoNode } from '../node-cluster/machine.ts'
import { nodeBinaries } from '../node-cluster/node-cluster.ts'
import { existingKubeconfig } from '../start-cluster.ts'
import { useExistingBed } from './existing-bed.ts'
import { startNodeBed } from './node-bed.ts'
import { startProcessBed } from './process-bed.ts'

/** A cluster for the chart: with cert-manager, volumes on demand, and an EC2 that the programs reach. */
export interface TestBed {
  readonly cluster: Cluster
  readonly ec2: Ec2Fake
  /** What a user has to say to the chart on AWS, with the fake in EC2's place. */
  readonly valuesFile: string
  /** Whose claims get volumes that look like EBS. */
  readonly storageClassName: string
  /** Whether pods that want such a volume can run. */
  readonly mountsVolumes: boolean
  /** Where this machine reaches a Service of the webhook. */
  addressOf(service: { readonly namespace: string; readonly name: string }): Promise<Address>
  stop(): Promise<void>
}

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * With a node and real pods, or on the cluster that `E2E_KUBECONFIG` names. Where this machine cannot run containers,
 * processes play the pods: the chart, the API server and its calls to the webhook are the same; image, kubelet and
 * kube-proxy are not tried then.
 */
export async function startTestBed({ dir }: { readonly dir: string }): Promise<TestBed> {
  const kubeconfigPath = existingKubeconfig()
  // That there is a host, the runner made sure of.
  const host = process.env['E2E_WEBHOOK_HOST'] ?? ''
  if (kubeconfigPath !== undefined) return useExistingBed({ dir, kubeconfigPath, host })
  const reasons = await whyNoNode(console.log)
  return reasons.length === 0 ? startNodeBed({ dir }) : startProcessBed({ dir })
}

/** Builds what `startTestBed` runs, and says loudly what it is going to be. */
export async function prepareTestBed(report: (line: string) => void): Promise<void> {
  if (existingKubeconfig() !== undefined) {
    await ensureBinaries(['kubectl', ...certManagerBinaries, 'helm3', 'helm4', 'kustomize'], report)
    return
  }
  const reasons = await whyNoNode(report)
  await ensureBinaries([...controlPlaneBinaries, ...certManagerBinaries, 'helm3', 'helm4', 'kustomize'], report)
  if (reasons.length === 0) {
    await ensureBinaries(nodeBinaries, report)
    return
  }
  const lines = [
    '!!! THIS MACHINE CANNOT RUN CONTAINERS. The chart is tried with processes in place of pods:',
    '!!! the image, the kubelet and the Service of the webhook are NOT tested.',
    ...reasons.map((reason) => `!!! - ${reason}`),
  ]
  for (const line of lines) report(line)
}
