import { admissionSchema } from './admission-schema.ts'
import { address, duration, flag, group, port } from './schema-parts.ts'
import { scopeSchema, tagsSchema } from './tags-schema.ts'

/**
 * The one schema of the config file. `docs/configuration.md` is generated from it, so a description is what a user
 * reads. No key is required and every key has a default: an empty file is a working config.
 */
export const configSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    cloudProvider: {
      type: 'string',
      enum: ['mock', 'aws', 'azure', 'gcp'],
      default: 'mock',
      description: 'The cloud whose disks are tagged, in any case. `mock` keeps tags in memory and takes every volume.',
    },
    clusterName: {
      type: 'string',
      maxLength: 100,
      default: '',
      description: 'The name of this cluster, for logs and metrics of a fleet.',
    },
    requeue: group({
      success: duration('1h', 'How often every volume is compared with the cloud.'),
      notReady: duration('30s', 'The first delay before a disk that the cloud does not know yet is looked at again.'),
      error: duration('1m', 'The ceiling of the backoff after an error.'),
    }),
    log: group({
      level: {
        type: 'string',
        enum: ['debug', 'info', 'warn', 'error'],
        default: 'info',
        description:
          'The least severe lines that are written. The environment variable `LOG_LEVEL` overrides it. Label values stand only in `debug` lines.',
      },
    }),
    http: group({
      address: address('The address of `/healthz`, `/readyz` and `/metrics` (plain HTTP).'),
      port: port(8080, 'Their port.'),
    }),
    webhook: group({
      enabled: flag(
        true,
        'Whether a webhook runs in this cluster. Where it does not, the reconciler gives it no head start and has the whole budget.',
      ),
      address: address('The address on which the webhook answers the API server (TLS).'),
      port: port(10_250, 'Its port. 10250 is one of the two that private GKE control planes reach.'),
      certificateDirectory: {
        type: 'string',
        minLength: 1,
        default: '/etc/k8s-cloud-tagger/tls',
        description: 'The folder with `tls.crt` and `tls.key`. Reloaded without a restart when they change.',
      },
      excludedNamespaces: {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: 63 },
        default: ['kube-system', 'kube-node-lease'],
        description:
          'Namespaces that the webhook configuration leaves out, so that the reconciler does not count their changes as missed by the webhook.',
      },
    }),
    reconciler: group({
      enabled: flag(
        true,
        'Whether a reconciler runs in this cluster. Where it does not, the webhook keeps every job instead of leaving late ones to it.',
      ),
      headStart: duration('10s', 'How long the webhook has for a change before the reconciler looks at it.'),
      lease: group({
        name: {
          type: 'string',
          minLength: 1,
          default: 'k8s-cloud-tagger-reconciler',
          description: 'The Lease by which one of several reconcilers is elected.',
        },
        namespace: {
          type: 'string',
          default: '',
          description: 'Its namespace; empty means that of the pod (`POD_NAMESPACE`), else `default`.',
        },
      }),
    }),
    reportOnly: flag(
      false,
      'Whether everything is computed and nothing is written: no tag, no record, no Event. Logs and metrics say what would be.',
    ),
    scope: scopeSchema,
    tags: tagsSchema,
    admission: admissionSchema,
    metrics: group({
      requiredByNamespace: flag(
        false,
        'Whether the reconciler shows by namespace how many claims lack a label of `admission.requiredLabels`. The 100 namespaces with the most are shown.',
      ),
    }),
    events: group({
      normal: flag(true, 'Whether a `Normal` Event tells of each written change. Warnings are always told.'),
    }),
    budget: group({
      profile: {
        type: 'string',
        enum: ['shared', 'exclusive'],
        default: 'shared',
        description:
          "How much of the account's API quota this installation may use. `shared`: many clusters and other tools in one account. `exclusive`: this cluster has the account for itself.",
      },
      webhookReplicas: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 2,
        description: "Webhook processes among which the webhook's share is divided.",
      },
      webhookShare: {
        type: 'number',
        exclusiveMinimum: 0,
        exclusiveMaximum: 1,
        default: 0.85,
        description:
          "The webhook's part of the budget; the rest is the reconciler's. Where only one of them runs, it has all. On AWS three quarters of the budget are drawn on by whoever is busy.",
      },
    }),
    aws: group({
      region: {
        type: 'string',
        default: '',
        description:
          'The region of the disks; empty means what the SDK finds (`AWS_REGION`, profile, instance metadata).',
      },
      endpoint: {
        type: 'string',
        default: '',
        pattern: '^(https?://.+)?$',
        description:
          "Another address of EC2, as a URL; empty means the SDK's own (`AWS_ENDPOINT_URL_EC2` is honoured).",
      },
      callTimeout: duration('10s', 'After this a call to EC2 is given up.'),
    }),
    gcp: group({
      project: {
        type: 'string',
        default: '',
        description: 'The project of disks whose handle does not name one; empty means that of the metadata server.',
      },
      endpoint: {
        type: 'string',
        default: '',
        pattern: '^(https?://.+)?$',
        description: 'Another address of the Compute API, as a URL. Plain http is taken on loopback only.',
      },
      callTimeout: duration('10s', 'After this a call to Google is given up.'),
    }),
    azure: group({
      resourceManagerEndpoint: {
        type: 'string',
        default: '',
        pattern: '^(https?://.+)?$',
        description:
          'Another address of Azure Resource Manager, as a URL, for sovereign clouds; empty means the public cloud. Plain http is taken on loopback only.',
      },
      authorityHost: {
        type: 'string',
        default: '',
        pattern: '^(https?://.+)?$',
        description: 'Another address of Entra ID, as a URL; empty means what the SDK finds (`AZURE_AUTHORITY_HOST`).',
      },
      callTimeout: duration('10s', 'After this a call to Azure is given up.'),
    }),
  },
} as const satisfies JsonSchema

interface JsonSchema {
  readonly type: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly [keyword: string]: unknown
}
