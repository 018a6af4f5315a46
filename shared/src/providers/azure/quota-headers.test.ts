import { expect } from 'chai'
import { isQuotaLow } from './quota-headers.ts'

describe('what Azure says is left', () => {
  for (const [header, value, low] of [
    ['x-ms-ratelimit-remaining-subscription-writes', '199', false],
    ['x-ms-ratelimit-remaining-subscription-writes', '40', false],
    ['x-ms-ratelimit-remaining-subscription-writes', '39', true],
    ['x-ms-ratelimit-remaining-subscription-reads', '51', false],
    ['x-ms-ratelimit-remaining-subscription-reads', '0', true],
    ['x-ms-ratelimit-remaining-subscription-global-writes', '700', false],
    ['x-ms-ratelimit-remaining-subscription-global-writes', '500', true],
    ['x-ms-user-quota-remaining', '3', false],
    ['x-ms-user-quota-remaining', '2', true],
    ['x-ms-ratelimit-remaining-resource', 'Microsoft.Compute/PutDisk3Min;4,Microsoft.Compute/PutDisk30Min;900', false],
    ['x-ms-ratelimit-remaining-resource', 'Microsoft.Compute/PutDisk3Min;0,Microsoft.Compute/PutDisk30Min;900', true],
    ['x-ms-ratelimit-remaining-subscription-writes', 'many', false],
    ['x-ms-ratelimit-remaining-subscription-writes', '', false],
    ['x-ms-something-else', '0', false],
  ] as const) {
    it(`is ${low ? 'little' : 'enough'}: ${header}: ${value}`, () => {
      expect(isQuotaLow({ [header]: value })).to.equal(low)
    })
  }
})
