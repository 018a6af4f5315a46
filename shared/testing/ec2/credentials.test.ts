import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DescribeVolumesCommand, EC2Client } from '@aws-sdk/client-ec2'
import { expect } from 'chai'
import { Ec2Fake } from './ec2-fake.ts'
import { ec2Client, refusalOf } from './sdk.ts'

describe('the EC2 fake, asked by whom', () => {
  let ec2: Ec2Fake
  let folder: string
  let environment: NodeJS.ProcessEnv

  beforeEach(async () => {
    environment = { ...process.env }
    ec2 = await Ec2Fake.start({ requireSignature: true })
    ec2.addVolume('vol-1')
    folder = await mkdtemp(join(tmpdir(), 'ec2-fake-'))
    await writeFile(join(folder, 'token'), 'a.web.token')
  })

  afterEach(async () => {
    replaceEnvironment(environment)
    await ec2.close()
    await rm(folder, { recursive: true })
  })

  function outcome(config: Parameters<typeof ec2Client>[1] = {}): Promise<string> {
    return outcomeWith(ec2Client(ec2, config))
  }

  /** With the SDK's default chain and these variables alone. */
  function chainOutcome(
    variables: Record<string, string>,
    config: { readonly profile?: string } = {},
  ): Promise<string> {
    replaceEnvironment({ PATH: environment['PATH'], AWS_REGION: 'eu-west-1', ...variables })
    return outcomeWith(new EC2Client({ maxAttempts: 1, ...config }))
  }

  async function outcomeWith(client: EC2Client): Promise<string> {
    try {
      return await refusalOf(client.send(new DescribeVolumesCommand({})))
    } finally {
      client.destroy()
    }
  }

  function replaceEnvironment(variables: NodeJS.ProcessEnv): void {
    for (const name of Object.keys(process.env)) delete process.env[name]
    for (const [name, value] of Object.entries(variables)) if (value !== undefined) process.env[name] = value
  }

  it('takes what is signed with a known key', async () => {
    expect(await outcome()).to.equal('it was not refused')
  })

  it('refuses a wrong secret, an unknown key, another region and a wrong clock', async () => {
    const { accessKeyId, secretAccessKey } = { accessKeyId: 'AKIAFAKE', secretAccessKey: 'fake-secret' }

    expect(await outcome({ credentials: { accessKeyId, secretAccessKey: 'x' } })).to.match(/^403 SignatureDoesNotMatch/)
    expect(await outcome({ credentials: { accessKeyId: 'AKIAOTHER', secretAccessKey } })).to.match(/^401 AuthFailure/)
    expect(await outcome({ region: 'eu-west-2' })).to.match(/^401 AuthFailure/)
    expect(await outcome({ systemClockOffset: -600_000 })).to.match(/^400 RequestExpired/)
  })

  it('refuses what is not signed', async () => {
    const answer = await fetch(ec2.url, { method: 'POST', body: 'Action=DescribeVolumes' })

    expect(answer.status).to.equal(403)
    expect(await answer.text()).to.include('MissingAuthenticationToken')
  })

  it('exchanges a web identity, as service accounts of a cluster do', async () => {
    const outcome = await chainOutcome({
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/tagger',
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
      AWS_ENDPOINT_URL_STS: ec2.url,
      AWS_ENDPOINT_URL_EC2: ec2.url,
    })

    expect(outcome).to.equal('it was not refused')
    expect(ec2.count('AssumeRoleWithWebIdentity').calls).to.equal(1)
  })

  it('lets one role assume another', async () => {
    const config = [
      '[profile hop]',
      'role_arn = arn:aws:iam::210987654321:role/other',
      'source_profile = first',
      '[profile first]',
      'role_arn = arn:aws:iam::123456789012:role/tagger',
      `web_identity_token_file = ${join(folder, 'token')}`,
    ]
    await writeFile(join(folder, 'config'), config.join('\n'))

    const outcome = await chainOutcome(
      { AWS_CONFIG_FILE: join(folder, 'config'), AWS_ENDPOINT_URL: ec2.url },
      { profile: 'hop' },
    )

    expect(outcome).to.equal('it was not refused')
    expect([ec2.count('AssumeRoleWithWebIdentity').calls, ec2.count('AssumeRole').calls]).to.deep.equal([1, 1])
  })

  it('hands out credentials as the Pod Identity agent does', async () => {
    const outcome = await chainOutcome({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: ec2.podIdentityUrl,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token'),
      AWS_ENDPOINT_URL: ec2.url,
    })

    expect(outcome).to.equal('it was not refused')
  })

  it('lets handed out credentials end', async () => {
    ec2.credentialLifetime(-1)
    const { AccessKeyId, SecretAccessKey, Token } = (await (await fetch(ec2.podIdentityUrl)).json()) as {
      AccessKeyId: string
      SecretAccessKey: string
      Token: string
    }

    const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token }

    expect(await outcome({ credentials })).to.match(/^400 RequestExpired/)
  })

  it('says who is calling', async () => {
    await using open = await Ec2Fake.start()
    const answer = await fetch(open.url, { method: 'POST', body: 'Action=GetCallerIdentity&Version=2011-06-15' })

    expect(await answer.text()).to.include('<Account>123456789012</Account>')
  })
})
