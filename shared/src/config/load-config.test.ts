import { expect } from 'chai'
import { durationMs } from '../runtime/duration.ts'
import { ConfigError, parseConfig } from './load-config.ts'

function problemsOf(text: string): readonly string[] {
  try {
    parseConfig(text)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  throw new Error('the config was taken')
}

describe('parseConfig', () => {
  it('takes an empty file and fills in every default', () => {
    const config = parseConfig('')

    expect(config.cloudProvider).to.equal('mock')
    expect(config.requeue).to.deep.equal({ success: '1h', notReady: '30s', error: '1m' })
    expect(config.reconciler.lease.name).to.equal('k8s-cloud-tagger-reconciler')
  })

  it('takes the four keys of the older tool as they are, the provider in any case', () => {
    const config = parseConfig('cloudProvider: AWS\nrequeue:\n  success: 5m\n  notReady: 30s\n  error: 60s\n')

    expect(config.cloudProvider).to.equal('aws')
    expect(durationMs(config.requeue.success)).to.equal(300_000)
  })

  it('names every problem at once, with its path, its value and what is allowed', () => {
    const problems = problemsOf(
      'cloudProvider: gpc\nrequeue: {success: 0s, error: 1m30s}\nhttp: {port: 99999}\ntags: {onConflct: preserve}\n',
    )

    expect(problems).to.have.length(5)
    expect(problems.join('\n')).to.include('cloudProvider: "gpc", must be one of mock, aws, azure, gcp')
    expect(problems.join('\n')).to.include(
      'requeue.success: "0s", must be a whole number and a unit, such as 30s, 5m or 1h',
    )
    expect(problems.join('\n')).to.include('http.port: 99999, must be <= 65535')
    expect(problems.join('\n')).to.include(
      'tags.onConflct: "preserve", is no key of ours; allowed here: labels, annotations,',
    )
  })

  it('takes a key with nothing behind it for one that is not there, at any depth', () => {
    const config = parseConfig('aws:\nrequeue:\n  success:\nreconciler:\n  lease:\n    name:\n')

    expect(config).to.deep.equal(parseConfig(''))
  })

  it('names each mistake once', () => {
    expect(problemsOf('cloudProvider: 5')).to.deep.equal(['cloudProvider: 5, must be one of mock, aws, azure, gcp'])
  })

  it('keeps a line short whatever stands in the file', () => {
    const [problem] = problemsOf(`clusterName: ${'x'.repeat(10_000)}`)

    expect(problem).to.have.length.below(200)
  })

  for (const [when, text, want] of [
    ['it is not YAML', 'a: [', 'Flow sequence'],
    ['a key stands twice', 'cloudProvider: aws\ncloudProvider: gcp\n', 'unique'],
    ['it refers to what is not there', 'aws: *nothing', 'alias'],
    ['it holds several documents', 'log: {}\n---\nlog: {}\n', 'multiple documents'],
    ['a key is one of JavaScript', '"__proto__": {a: 1}', 'is no key of ours'],
    ['it is a list', '- a', 'must be a map'],
    ['a number stands where a text belongs', 'clusterName: 5', 'clusterName: 5, must be text: write it in quotes'],
    ['nothing would run', 'webhook: {enabled: false}\nreconciler: {enabled: false}', 'at least one'],
    ['two servers would share a port', 'http: {port: 10250}', 'must differ'],
    [
      'an endpoint is no URL',
      'aws: {endpoint: "localhost:4566"}',
      'aws.endpoint: "localhost:4566", must match pattern',
    ],
  ] as const) {
    it(`refuses it when ${when}`, () => {
      expect(problemsOf(text).join('\n')).to.include(want)
    })
  }
})
