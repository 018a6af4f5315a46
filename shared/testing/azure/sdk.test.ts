import { ResourceManagementClient } from '@azure/arm-resources'
import { expect } from 'chai'
import { systemClock } from '../../src/runtime/clock.ts'
import { createArmApi } from '../../src/providers/azure/arm-api.ts'
import { AzureFake, fakeCredential } from './azure-fake.ts'
import { addNumberedDisks, numberedDiskId } from './control.ts'

// The SDK's own tag operations, for what the fake must be like; the product itself sends one call and does not wait.
describe('the Azure fake, by the SDK', () => {
  it('understands the calls of its tag operations', async () => {
    await using fake = await AzureFake.start()
    addNumberedDisks(fake, 1)
    const scope = numberedDiskId(1).slice(1)
    const client = new ResourceManagementClient(fakeCredential, {
      endpoint: fake.url.replace('http:', 'https:'),
      retryOptions: { maxRetries: 0 },
      additionalPolicies: [
        {
          position: 'perRetry',
          policy: {
            name: 'plain',
            sendRequest(request, next) {
              request.url = request.url.replace('https:', 'http:')
              request.allowInsecureConnection = true
              return next(request)
            },
          },
        },
      ],
    })

    const before = await client.tagsOperations.getAtScope(scope)
    const write = client.tagsOperations.updateAtScope(scope, { operation: 'Merge', properties: { tags: { a: '1' } } })
    await write.submitted()

    expect(before.properties.tags).to.have.property('k8s-azure-created-by')
    expect(fake.tagsOf(numberedDiskId(1))).to.include({ a: '1' })
    expect(Object.keys(fake.counts())).to.deep.equal(['GetTags', 'MergeTags'])
    expect(fake.calls('MergeTags')[0]?.path).to.contain('api-version=2025-04-01')
  })

  it('is asked by the product as the SDK asks', async () => {
    await using fake = await AzureFake.start()
    addNumberedDisks(fake, 1)
    const api = createArmApi({ clock: systemClock, resourceManagerEndpoint: fake.url, credential: fakeCredential })

    const { value } = await api.readTags(numberedDiskId(1), AbortSignal.timeout(5000))
    api.close()

    expect(value.has('K8S-AZURE-CREATED-BY')).to.equal(true)
  })
})
