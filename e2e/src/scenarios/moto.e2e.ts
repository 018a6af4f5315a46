import { expect } from 'chai'
import { startMoto, type Moto } from '../moto.ts'
import { scenarioFolder } from '../scenario-folder.ts'

describe('moto', () => {
  let moto: Moto

  before('starts', async () => {
    moto = await startMoto({ dir: scenarioFolder('moto'), report: console.log })
  })

  after('stops', async () => moto?.stop())

  /** One call of EC2's query API; moto checks no signature. */
  async function ec2(parameters: Readonly<Record<string, string>>): Promise<string> {
    const response = await fetch(moto.url, {
      method: 'POST',
      headers: {
        authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/ec2/aws4_request',
        'x-amz-date': '20260101T000000Z',
      },
      body: new URLSearchParams({ Version: '2016-11-15', ...parameters }),
    })
    return response.text()
  }

  it('keeps the tags of a volume', async () => {
    const created = await ec2({ Action: 'CreateVolume', AvailabilityZone: 'eu-west-1a', Size: '1' })
    const volumeId = /<volumeId>(?<id>vol-[0-9a-f]+)</u.exec(created)?.groups?.['id'] ?? ''

    await ec2({ Action: 'CreateTags', 'ResourceId.1': volumeId, 'Tag.1.Key': 'team', 'Tag.1.Value': 'core' })

    const described = await ec2({ Action: 'DescribeVolumes', 'VolumeId.1': volumeId })
    expect(described).to.include('<key>team</key>').and.to.include('<value>core</value>')
  })
})
