import { configSchema } from '@k8s-cloud-tagger/shared/config/config-schema.ts'

interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, SchemaNode>>
}

export function configurationPage(): string {
  const rows = [...leaves(configSchema as SchemaNode, [])].map(
    ([path, node]) =>
      `| \`${path}\` | \`${JSON.stringify(node.default)}\` | ${node.description ?? ''} ${allowed(node)} |`,
  )
  return `<!-- Generated from shared/src/config/config-schema.ts by 'make generate'. -->

# Configuration

One YAML file for both programs: \`CONFIG_PATH\`, else \`/etc/k8s-cloud-tagger/config.yaml\`. No key is required; an unknown
one is an error. All problems are reported at once, each as \`path: value, what is allowed\`, and the program exits with 2.

| key | default | meaning and what is allowed |
| --- | --- | --- |
${rows.join('\n')}

## Environment

| variable | meaning |
| --- | --- |
| \`CONFIG_PATH\` | the config file |
| \`KUBECONFIG\` | how to reach the API server from outside a cluster; inside, the pod's service account is used |
| \`LOG_LEVEL\` | overrides \`log.level\` |
| \`POD_NAME\` | this process's name in records, Events and the Lease; the same over restarts of a container |
| \`POD_NAMESPACE\` | where the Lease lives, unless the config names another place |
| \`AWS_…\` | everything that the AWS SDK reads: region, credentials (IRSA, Pod Identity, profile), \`AWS_ENDPOINT_URL_EC2\` |
`
}

function* leaves(node: SchemaNode, path: readonly string[]): Iterable<readonly [string, SchemaNode]> {
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    if (child.properties === undefined) yield [[...path, key].join('.'), child]
    else yield* leaves(child, [...path, key])
  }
}

function allowed(node: SchemaNode): string {
  if (node.enum !== undefined) return `Allowed: ${node.enum.map((value) => `\`${String(value)}\``).join(', ')}.`
  if (node.pattern?.includes('(ms|s|m|h)') === true) return 'A whole number and a unit: `30s`, `5m`, `1h`.'
  if (node.type === 'array') return 'A list of texts.'
  if (node.type === 'object') return 'A map from text to text.'
  if (node.minimum !== undefined) return `A whole number from ${node.minimum} to ${node.maximum}.`
  if (node.exclusiveMinimum !== undefined) return `Above ${node.exclusiveMinimum} and below ${node.exclusiveMaximum}.`
  return node.type === 'boolean' ? '`true` or `false`.' : ''
}
