import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fakeCredentials, type Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { stringify } from 'yaml'

export const region = 'eu-west-1'

/** Writes the values and resolves to their file. `host` is this machine as the programs see it. */
export async function writeValues(
  dir: string,
  { ec2, host }: { readonly ec2: Ec2Fake; readonly host: string },
): Promise<string> {
  const file = path.join(dir, 'values.yaml')
  const values = {
    cloudProvider: 'aws',
    clusterName: 'e2e',
    config: { aws: { region, endpoint: `http://${host}:${new URL(ec2.url).port}` } },
    deployment: {
      env: {
        AWS_ACCESS_KEY_ID: fakeCredentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: fakeCredentials.secretAccessKey,
      },
    },
  }
  await writeFile(file, stringify(values))
  return file
}
