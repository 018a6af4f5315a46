import { expect } from 'chai'
import { sdkEndpoint } from './plain-http.ts'

describe('an endpoint of Azure', () => {
  for (const [text, url, plainHost] of [
    ['https://management.usgovcloudapi.net/', 'https://management.usgovcloudapi.net', undefined],
    ['https://login.microsoftonline.us/tenant', 'https://login.microsoftonline.us/tenant', undefined],
    ['http://127.0.0.1:8080', 'https://127.0.0.1:8080', '127.0.0.1:8080'],
    ['http://localhost/', 'https://localhost:80', 'localhost:80'],
    ['http://[::1]:9/x/', 'https://[::1]:9/x', '[::1]:9'],
  ] as const) {
    it(`is told to the SDK as https: ${text}`, () => {
      expect(sdkEndpoint('azure.x', text)).to.deep.equal({ url, plainHost })
    })
  }

  for (const text of [
    'http://management.azure.com',
    'http://127.0.0.1.example.com',
    'ftp://127.0.0.1',
    'management',
    '',
  ]) {
    it(`is refused, with the name of its setting: ${JSON.stringify(text)}`, () => {
      expect(() => sdkEndpoint('azure.x', text)).to.throw(/^azure\.x: /)
    })
  }
})
