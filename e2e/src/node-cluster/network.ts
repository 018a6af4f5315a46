import { existsSync } from 'node:fs'

/**
 * Addresses of one cluster, out of 198.18.0.0/15, which is set aside for tests (RFC 2544) and so never clashes with what
 * this machine talks to. Clusters side by side differ by their number.
 */
export interface NodeNetwork {
  /** Of the interface on this machine; its other end is the node's only one. */
  readonly interfaceName: string
  readonly nodeAddress: string
  readonly hostAddress: string
  readonly services: string
  readonly kubernetesService: string
  readonly pods: string
  /** Also names the cluster's control group. */
  readonly groupName: string
}

const clustersAtMost = 64

/** The first that no other cluster on this machine uses. */
export function freeNetwork(): NodeNetwork {
  for (let number = 0; number < clustersAtMost; number++) {
    const network = networkOf(number)
    if (!existsSync(`/sys/class/net/${network.interfaceName}`)) return network
  }
  throw new Error(`There are ${clustersAtMost} clusters on this machine already`)
}

export function networkOf(number: number): NodeNetwork {
  const second = 128 + number
  return {
    interfaceName: `tagger-e2e-${number}`,
    nodeAddress: `198.18.${number}.1`,
    hostAddress: `198.18.${number}.254`,
    services: `198.18.${second}.0/24`,
    kubernetesService: `198.18.${second}.1`,
    pods: `198.19.${number}.0/24`,
    groupName: `k8s-cloud-tagger-e2e-${number}`,
  }
}
