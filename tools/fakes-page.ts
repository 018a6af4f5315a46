import { conditionTable as azureConditions, faultTable as azureFaults } from '../shared/testing/azure/faults.ts'
import { conditionTable as ec2Conditions, faultTable as ec2Faults } from '../shared/testing/ec2/faults.ts'
import { conditionTable as gcpConditions, faultTable as gcpFaults } from '../shared/testing/gcp/faults.ts'

type Table = Readonly<Record<string, string>>

export function fakesPage(): string {
  return `<!-- Generated from the tables in shared/testing/*/faults.ts by 'make generate'. -->

# The three clouds of the tests

Each cloud has a fake in \`shared/testing\`: plain HTTP on loopback, to which the real SDK speaks. What a fake can be made to
do stands in its \`faults.ts\`; \`shared/src/providers/faults.test.ts\` shows for every row what the product makes of it, and
fails where a row has no test.

A fault hits single calls: \`fake.inject(fault, scope)\`, for the next call that matches, the next \`times\`, or until it is
cleared. A condition lasts. From another process both are set by \`POST /_fake/faults\`; the fakes start by
\`node shared/testing/<cloud>/serve.ts\`, and \`control.ts\` beside it lists what each understands.

Requests are held against the SDK's own description of the service: Google's fake answers 400 to a field that the protos of
\`@google-cloud/compute\` do not know or that has another type, Azure's to a body that \`@azure/arm-resources\` would not have
written, an API version that it does not know, or a path that it does not have. For AWS the same is shown with moto, in
\`e2e/src/scenarios/moto.e2e.ts\`.

${section('EC2', ec2Faults, ec2Conditions)}
${section('Compute Engine', gcpFaults, gcpConditions)}
${section('Azure', azureFaults, azureConditions)}`
}

function section(name: string, faults: Table, conditions: Table): string {
  return `## ${name}

${table('fault', faults)}

${table('condition', conditions)}
`
}

function table(head: string, rows: Table): string {
  const lines = Object.entries(rows).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
  return [`| ${head} | what happens |`, '| --- | --- |', ...lines].join('\n')
}
