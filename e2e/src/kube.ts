import type { KubeClient } from './kube-client.ts'
import type {
  KubeEvent,
  KubeObject,
  Lease,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  Stored,
} from './kube-objects.ts'
import { Resource, type ObjectRef, type ResourceKind, type WaitOptions } from './resource.ts'

const core = '/api/v1'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const admission = '/apis/admissionregistration.k8s.io/v1'
const apps = '/apis/apps/v1'

const kinds = {
  Pod: { root: core, plural: 'pods', namespaced: true },
  Secret: { root: core, plural: 'secrets', namespaced: true },
  Service: { root: core, plural: 'services', namespaced: true },
  Deployment: { root: apps, plural: 'deployments', namespaced: true },
  StatefulSet: { root: apps, plural: 'statefulsets', namespaced: true },
  Certificate: { root: '/apis/cert-manager.io/v1', plural: 'certificates', namespaced: true },
  Namespace: { root: core, plural: 'namespaces', namespaced: false },
  ServiceAccount: { root: core, plural: 'serviceaccounts', namespaced: true },
  PersistentVolumeClaim: { root: core, plural: 'persistentvolumeclaims', namespaced: true },
  PersistentVolume: { root: core, plural: 'persistentvolumes', namespaced: false },
  StorageClass: { root: '/apis/storage.k8s.io/v1', plural: 'storageclasses', namespaced: false },
  Event: { root: '/apis/events.k8s.io/v1', plural: 'events', namespaced: true },
  Lease: { root: '/apis/coordination.k8s.io/v1', plural: 'leases', namespaced: true },
  ClusterRole: { root: rbac, plural: 'clusterroles', namespaced: false },
  ClusterRoleBinding: { root: rbac, plural: 'clusterrolebindings', namespaced: false },
  Role: { root: rbac, plural: 'roles', namespaced: true },
  RoleBinding: { root: rbac, plural: 'rolebindings', namespaced: true },
  ValidatingWebhookConfiguration: { root: admission, plural: 'validatingwebhookconfigurations', namespaced: false },
  MutatingWebhookConfiguration: { root: admission, plural: 'mutatingwebhookconfigurations', namespaced: false },
  ValidatingAdmissionPolicy: { root: admission, plural: 'validatingadmissionpolicies', namespaced: false },
  ValidatingAdmissionPolicyBinding: { root: admission, plural: 'validatingadmissionpolicybindings', namespaced: false },
} satisfies Record<string, ResourceKind>

/** Everything that scenarios do to a cluster, by kind: `kube.claims.label(claim, { team: 'core' })`. */
export class Kube {
  readonly client: KubeClient
  readonly namespaces: Resource<KubeObject>
  readonly serviceAccounts: Resource<KubeObject>
  readonly claims: Resource<PersistentVolumeClaim>
  readonly volumes: Resource<PersistentVolume>
  readonly storageClasses: Resource<StorageClass>
  readonly events: Resource<KubeEvent>
  readonly leases: Resource<Lease>

  constructor(client: KubeClient) {
    this.client = client
    this.namespaces = new Resource(client, kinds.Namespace)
    this.serviceAccounts = new Resource(client, kinds.ServiceAccount)
    this.claims = new Resource(client, kinds.PersistentVolumeClaim)
    this.volumes = new Resource(client, kinds.PersistentVolume)
    this.storageClasses = new Resource(client, kinds.StorageClass)
    this.events = new Resource(client, kinds.Event)
    this.leases = new Resource(client, kinds.Lease)
  }

  /** Of any kind that the manifests use. */
  resourceOf(kind: string): Resource<KubeObject> {
    if (!isKnownKind(kind)) throw new Error(`kube.ts knows no kind ${kind}; add it to the table there`)
    return new Resource(this.client, kinds[kind])
  }

  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) await this.resourceOf(object.kind).apply(object)
  }

  async createNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<Stored<KubeObject>> {
    return this.namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  }

  /** Resolves when the claim's status says Bound, which comes after the update that names the volume. */
  async waitUntilBound(
    ref: ObjectRef | PersistentVolumeClaim,
    options: WaitOptions = {},
  ): Promise<Stored<PersistentVolumeClaim>> {
    return this.claims.waitFor(ref, 'be bound', (claim) => claim.status?.phase === 'Bound', options)
  }

  /** A service account's token, good for a day, as a kubelet would get it for a pod. */
  async serviceAccountToken(ref: ObjectRef): Promise<string> {
    const path = `${core}/namespaces/${ref.namespace}/serviceaccounts/${ref.name}/token`
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 86_400 },
    }
    const { status } = await this.client.call<{ status: { token: string } }>('POST', path, { body })
    return status.token
  }

  /** The API server's own metrics, summed over the labels that are not named: `sum('x_total', { verb: 'GET' })`. */
  async metrics(): Promise<Metrics> {
    return new Metrics(await this.client.call<string>('GET', '/metrics'))
  }
}

/** A scrape in Prometheus' text form, of the API server or of our programs. */
export class Metrics {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** 0 where there is no such series. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.series(name, labels).reduce((total, { value }) => total + value, 0)
  }

  series(
    name: string,
    wanted: Readonly<Record<string, string>> = {},
  ): readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[] {
    const lines = this.#text.split('\n').filter((line) => line.startsWith(name))
    return lines.flatMap((line) => {
      const match = /^(?<name>[^{\s]+)(?:\{(?<labels>.*)\})? (?<value>\S+)/u.exec(line)
      if (match?.groups?.['name'] !== name) return []
      const labels = labelsOf(match.groups['labels'] ?? '')
      if (!Object.entries(wanted).every(([key, value]) => labels[key] === value)) return []
      return [{ labels, value: Number(match.groups['value']) }]
    })
  }
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.matchAll(/(?<key>\w+)="(?<value>(?:[^"\\]|\\.)*)"/gu)
  return Object.fromEntries([...pairs].map(({ groups }) => [groups?.['key'] ?? '', groups?.['value'] ?? '']))
}

function isKnownKind(kind: string): kind is keyof typeof kinds {
  return Object.hasOwn(kinds, kind)
}
