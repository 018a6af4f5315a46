import { choice, flag, group, matching, objectMeta, text, textMap, texts, type Schema } from './chart-schema-parts.ts'

const optionalId = matching('([0-9]{12})?')
/** Written without quotes YAML reads a number, which loses a leading zero: then it is refused. */
const accountId: Schema = {
  anyOf: [optionalId, { type: 'integer', minimum: 100_000_000_000, maximum: 999_999_999_999 }],
}
const projectNumber: Schema = { anyOf: [matching('[0-9]*'), { type: 'integer', minimum: 1 }] }
const optionalUrl = matching('(https://[^\\s"]+)?')

const aws = group({
  roleArn: matching('(arn:aws[a-z-]*:iam::[0-9]{12}:role/[!-~]+)?'),
  partition: matching('(aws[a-z-]*)?'),
  controllersKubernetes: group({
    enabled: flag,
    accountId,
    roleName: matching('[A-Za-z0-9_+=,.@-]{0,64}'),
    // 0.4.0 took it with and without its scheme.
    oidcIssuerUrl: matching('[^\\s"]*'),
    audience: { type: 'string', minLength: 1 },
    podIdentity: group({ enabled: flag, eksClusterName: matching('([A-Za-z0-9][A-Za-z0-9_-]{0,99})?') }),
    volumeTags: textMap,
    path: matching('/([!-~]*/)?'),
    permissionsBoundary: matching('(arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[!-~]+)?'),
    tags: textMap,
    deletionPolicy: choice('', 'delete', 'retain'),
  }),
})

const azure = group({
  clientId: text,
  tenantId: text,
  identityName: matching('([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?'),
  serviceOperator: group({
    enabled: flag,
    resourceGroup: matching('([a-z0-9]([-a-z0-9.]{0,88}[a-z0-9])?)?'),
    createResourceGroup: flag,
    location: text,
    subscriptionId: text,
    oidcIssuerUrl: optionalUrl,
    audience: { type: 'string', minLength: 1 },
    diskResourceGroups: { ...texts, uniqueItems: true },
    roleDefinitionId: matching('(/.*/providers/Microsoft\\.Authorization/roleDefinitions/[0-9a-fA-F-]+)?'),
    reconcilePolicy: choice('detach-on-delete', 'manage', 'skip'),
  }),
})

const gcp = group({
  projectId: text,
  projectNumber,
  serviceAccount: matching('([a-z]([-a-z0-9]{0,28}[a-z0-9])?)?'),
  serviceAccountDomain: { type: 'string', minLength: 1 },
  workloadIdentityPool: text,
  configConnector: group({
    enabled: flag,
    customRoleName: matching('([A-Za-z0-9_.]{3,64})?'),
    existingRole: matching('(((projects|organizations)/[^/]+/)?roles/[A-Za-z0-9_.]+)?'),
    keepFormerBinding: flag,
    deletionPolicy: choice('abandon', 'delete'),
  }),
})

/** Who the programs are to the cloud. */
export const identityValues: Readonly<Record<string, Schema>> = { identity: group(objectMeta), aws, azure, gcp }
