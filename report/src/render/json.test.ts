import { expect } from 'chai'
import { clusterReport, row } from '../../testing/rows.ts'
import { fleetSchema, reportVersion } from '../cluster-report.ts'
import { renderJson } from './json.ts'

describe('JSON', () => {
  const empty = clusterReport({ claims: [] })
  const full = clusterReport({ claims: [row(), row({ name: 'data-1' })] })

  for (const [name, report] of Object.entries({ empty, full })) {
    it(`says all of a report that is ${name}, a claim a line`, () => {
      const text = [...renderJson(report)].join('')

      expect(JSON.parse(text)).to.deep.equal(report)
      expect(text.split('\n').filter((line) => line.startsWith('{"namespace"'))).to.have.length(report.claims.length)
    })
  }

  it('says all of a fleet', () => {
    const fleet = { schema: fleetSchema, version: reportVersion, clusters: [empty, full] } as const

    expect(JSON.parse([...renderJson(fleet)].join(''))).to.deep.equal(fleet)
  })
})
