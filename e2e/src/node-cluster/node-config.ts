import type { NodeNetwork } from './network.ts'

export const nodeName = 'node1'
export const pauseImage = 'e2e.invalid/pause:1'
export const containerdSocket = '/run/containerd/containerd.sock'

/** Version 2 is read by containerd 1.6, 1.7 and 2. */
export function containerdConfig({ cniFolder }: { readonly cniFolder: string }): string {
  return `version = 2
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.tracing.processor.v1.otlp",
]
[grpc]
  address = "${containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Not every machine lets root lower the score by which the kernel chooses whom to kill.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${cniFolder}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`
}

/** A bridge for the pods; no address is translated, since this machine has a route back to them. */
export function podNetwork({ pods }: NodeNetwork): object {
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: false,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: pods }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
}

export function kubeletConfig(options: {
  readonly groupName: string
  readonly podLogs: string
  readonly resolvConf: string
}): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Nobody asks it anything: its logs are files here.
    enableServer: false,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${options.groupName}`,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: ['pods'],
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    clusterDomain: 'cluster.local',
    resolvConf: options.resolvConf,
    podLogsDir: options.podLogs,
    // The machine's own disk and memory are not the node's: no pod is put out for them.
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    // Ten minutes and a minute by default: a renewed certificate should reach its pods within a test.
    syncFrequency: '10s',
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    volumeStatsAggPeriod: '1m',
  }
}

export function kubeProxyConfig(options: { readonly kubeconfig: string; readonly network: NodeNetwork }): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: options.kubeconfig },
    clusterCIDR: options.network.pods,
    hostnameOverride: nodeName,
    // These limits are the machine's, not the namespace's; zero leaves them alone.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  }
}
