import {
  anyMaps,
  flag,
  group,
  objectMeta,
  optionalName,
  optionalPrometheusDuration,
  text,
  textMap,
  texts,
  type Schema,
} from './chart-schema-parts.ts'

const monitor: Readonly<Record<string, Schema>> = {
  enabled: flag,
  interval: optionalPrometheusDuration,
  scrapeTimeout: optionalPrometheusDuration,
  ...objectMeta,
  honorLabels: flag,
  relabelings: anyMaps,
  metricRelabelings: anyMaps,
}

export const monitoringValues: Readonly<Record<string, Schema>> = {
  serviceMonitor: group({ ...monitor, service: group(objectMeta) }),
  podMonitor: group(monitor),
  prometheusRule: group({
    enabled: flag,
    ...objectMeta,
    alertLabels: textMap,
    disabledAlerts: texts,
    runbookUrl: text,
  }),
  dashboards: group({ enabled: flag, namespace: optionalName, ...objectMeta }),
}
