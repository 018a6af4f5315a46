import { configSchema } from '@k8s-cloud-tagger/shared/config/config-schema.ts'
import { cloudProvider, configValues } from './chart-schema-config.ts'
import { identityValues } from './chart-schema-identity.ts'
import { monitoringValues } from './chart-schema-monitoring.ts'
import {
  anyMap,
  anyMaps,
  annotations,
  choice,
  count,
  flag,
  goDuration,
  group,
  labels,
  matching,
  objectMeta,
  optionalGroup,
  optionalName,
  optionalObjectName,
  portNumber,
  text,
  type Schema,
} from './chart-schema-parts.ts'
import { podSettings } from './chart-schema-pods.ts'

const certificateTimes = { duration: goDuration, renewBefore: goDuration }

const certificates = group({
  mode: choice('cert-manager', 'secret', 'openshift'),
  certManager: group({
    issuerRef: optionalGroup({ name: { type: 'string', minLength: 1 }, kind: text, group: text }, ['name']),
    ...certificateTimes,
    privateKey: group({
      algorithm: choice('ECDSA', 'RSA', 'Ed25519'),
      size: { type: 'integer', enum: [256, 384, 521, 2048, 3072, 4096] },
      encoding: choice('PKCS1', 'PKCS8'),
    }),
    ca: group(certificateTimes),
    ...objectMeta,
    secretTemplate: group(objectMeta),
  }),
  secret: group({
    name: optionalObjectName,
    caBundle: matching('[A-Za-z0-9+/=\\s]*'),
    injectCA: flag,
  }),
})

const webhook = group({
  enabled: flag,
  ...podSettings,
  failurePolicy: choice('Ignore', 'Fail'),
  timeoutSeconds: count(1, 30),
  namespaceSelector: group({ matchExpressions: anyMaps }),
  aksAdmissionsEnforcer: choice('', 'selectors', 'disabled'),
  mutating: group({
    enabled: flag,
    operations: { type: 'array', minItems: 1, uniqueItems: true, items: choice('CREATE', 'UPDATE') },
  }),
  configuration: group(objectMeta),
  service: group({
    ...objectMeta,
    port: portNumber,
    ipFamilyPolicy: choice('', 'SingleStack', 'PreferDualStack', 'RequireDualStack'),
    ipFamilies: { type: 'array', items: choice('IPv4', 'IPv6') },
  }),
  preStopSleepSeconds: count(0, 600),
})

const networkPolicy = group({
  enabled: flag,
  ...objectMeta,
  webhookFrom: anyMaps,
  metricsFrom: anyMaps,
  egress: group({ enabled: flag, extra: anyMaps }),
})

/** What values the chart takes, in the dialect that every Helm understands. `values.yaml` describes them. */
export function valuesSchema(): Schema {
  const { clusterName, requeue } = configSchema.properties
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: "Generated from tools/chart-schema.ts and the config schema by 'make generate'.",
    title: 'Values of the chart k8s-cloud-tagger',
    ...group({
      // Helm hands a parent chart's globals to each of its dependencies.
      global: anyMap,
      cloudProvider,
      clusterName,
      requeue,
      config: configValues(),
      nameOverride: optionalName,
      fullnameOverride: optionalName,
      namespaceOverride: optionalName,
      commonLabels: labels,
      commonAnnotations: annotations,
      ...podSettings,
      rbac: group({ create: flag, ...objectMeta }),
      volumePolicy: group({ enabled: flag, ...objectMeta }),
      configMap: group(objectMeta),
      webhook,
      reconciler: group({ enabled: flag, ...podSettings }),
      certificates,
      networkPolicy,
      ...monitoringValues,
      extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
      ...identityValues,
    }),
  }
}
