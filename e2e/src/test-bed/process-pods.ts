import path from 'node:path'
import type { Cluster } from '../cluster.ts'
import type { KubeObject, Stored } from '../kube-objects.ts'
import { ProcessPod, type Pod } from './process-pod.ts'

const ours = 'k8s-cloud-tagger'

/** Plays the kubelet: each pod of ours becomes a process, every other pod is ready at once. */
export class ProcessPods {
  readonly #cluster: Cluster
  readonly #dir: string
  readonly #ending = new AbortController()
  readonly #pods = new Map<string, ProcessPod>()
  readonly #watching: Promise<void>

  constructor(cluster: Cluster, { dir }: { readonly dir: string }) {
    this.#cluster = cluster
    this.#dir = path.join(dir, 'pods')
    this.#watching = this.#watch()
    // A fault is told by stop(); until then it must not end the process as an unhandled rejection.
    this.#watching.catch(() => {})
  }

  /** Of the webhooks that are ready, which is what a Service would send calls to. */
  webhookPorts(): readonly number[] {
    return [...this.#pods.values()].flatMap((pod) => (pod.takesCalls ? [pod.webhookPort] : []))
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#watching
    await Promise.all([...this.#pods.values()].map((pod) => pod.stop({ isUrgent: true })))
  }

  async #watch(): Promise<void> {
    const pods = this.#cluster.kube.resourceOf('Pod')
    const faults: unknown[] = []
    const work = new Set<Promise<void>>()
    while (!this.#ending.signal.aborted) {
      for await (const { object, type } of pods.watch(undefined, { signal: this.#ending.signal })) {
        const step = this.#see(object as Stored<Pod>, type)
          .catch((error: unknown) => void faults.push(error))
          .finally(() => work.delete(step))
        work.add(step)
      }
    }
    await Promise.all(work)
    if (faults.length > 0) throw new AggregateError(faults, 'processes could not play all pods')
  }

  async #see(pod: Stored<Pod>, type: 'ADDED' | 'DELETED' | 'MODIFIED'): Promise<void> {
    const { uid } = pod.metadata
    const known = this.#pods.get(uid)
    if (type === 'DELETED') {
      await known?.stop()
      this.#pods.delete(uid)
      return
    }
    if (known !== undefined || type !== 'ADDED') return
    if (pod.metadata.labels?.['app.kubernetes.io/name'] === ours) {
      const process = new ProcessPod(this.#cluster, { dir: path.join(this.#dir, pod.metadata.name), pod })
      this.#pods.set(uid, process)
      await process.start()
    }
    await this.#setReady(pod)
  }

  /** A pod that went meanwhile is no fault. */
  async #setReady(pod: KubeObject): Promise<void> {
    const pods = this.#cluster.kube.resourceOf('Pod')
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' }))
    await pods.patch(pod, { status: { phase: 'Running', conditions } }, { subresource: 'status' }).catch(() => {})
  }
}
