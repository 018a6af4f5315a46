import { expect } from 'chai'
import { parseArguments } from './arguments.ts'
import { UsageError } from './usage-error.ts'

describe('parseArguments', () => {
  it('reads a cluster and its cloud where nothing is said', () => {
    expect(parseArguments([])).to.deep.equal({
      command: 'read',
      config: undefined,
      context: undefined,
      cluster: undefined,
      cloud: true,
      namespaces: [],
      format: undefined,
      file: undefined,
      failUnder: undefined,
    })
  })

  it('takes namespaces one by one and as lists, each once', () => {
    const options = parseArguments(['-n', 'a,b', '--namespace', 'c', '--namespace=a', '--no-cloud'])

    expect(options).to.deep.include({ namespaces: ['a', 'b', 'c'], cloud: false })
  })

  it('takes a percentage with and without its sign', () => {
    expect(parseArguments(['--fail-under', '95'])).to.deep.include({ failUnder: 95 })
    expect(parseArguments(['--fail-under=99.5%'])).to.deep.include({ failUnder: 99.5 })
  })

  it('takes the files to merge on either side of other options', () => {
    expect(parseArguments(['--merge', 'a.json', '-o', 'csv', 'b.json'])).to.deep.include({
      command: 'merge',
      files: ['a.json', 'b.json'],
      format: 'csv',
    })
  })

  it('answers --help and --version whatever else is said', () => {
    expect(parseArguments(['--help', 'x'])).to.deep.equal({ command: 'help' })
    expect(parseArguments(['--version'])).to.deep.equal({ command: 'version' })
  })

  const mistakes: readonly (readonly [args: readonly string[], says: string])[] = [
    [['--output', 'xml'], '--output xml: must be one of table, json, csv, html'],
    [['--fail-under', 'all'], '--fail-under all: must be a number from 0 to 100'],
    [['--fail-under', '101'], 'must be a number from 0 to 100'],
    [['--fail-under', ''], 'must be a number from 0 to 100'],
    [['--merge'], '--merge needs the reports to merge'],
    [['--merge', 'a.json', '--no-cloud'], '--no-cloud does not go with --merge'],
    [['--merge', 'a.json', '-n', 'db'], '--namespace does not go with --merge'],
    [['a.json'], 'to merge reports add --merge'],
    [['--write'], '--write'],
  ]
  for (const [args, says] of mistakes) {
    it(`refuses ${args.join(' ')}`, () => {
      expect(() => parseArguments(args)).to.throw(UsageError, says)
    })
  }
})
