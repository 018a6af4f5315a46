import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { clusterReport, row } from '../../testing/rows.ts'
import type { ClusterReport } from '../cluster-report.ts'
import { encodePageData, safeJson } from '../html/encode-page-data.ts'
import { renderHtml } from './html.ts'

function html(...clusters: readonly ClusterReport[]): string {
  return [...renderHtml(clusters)].join('')
}

function policyOf(page: string): string {
  return (/Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&#39;', "'")
}

describe('the page', () => {
  it('allows nothing but its own script and style, and names both by their hashes', () => {
    const page = html(clusterReport())

    const policy = policyOf(page)
    expect(policy).to.include("default-src 'none'")
    for (const [directive, tag] of [
      ['script-src', 'script'],
      ['style-src', 'style'],
    ]) {
      const text = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page)?.[1] ?? ''
      const hash = createHash('sha256').update(text).digest('base64')
      expect(policy).to.include(`${directive} 'sha256-${hash}'`)
    }
    expect(page).to.not.match(/\son\w+=|\sstyle=/)
  })

  it('asks nobody for anything', () => {
    expect(html(clusterReport())).to.not.match(/(src|href)=|url\(|@import|https?:\/\//)
  })

  it('cannot be broken out of, whatever is written where', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('</script>', '<!--', '"><img src=x>', "' onclick='", '</title>', ']]>', '\u2028'),
        fc.string(),
        (start, rest) => {
          const evil = start + rest
          const claim = row({
            namespace: evil,
            name: evil,
            disk: evil,
            state: 'skipped',
            reason: evil,
            detail: evil,
            tags: [{ key: evil, value: evil, present: evil, state: 'change' }],
            problems: [{ kind: evil, label: evil, message: evil }],
            missingLabels: [evil],
          })
          const unread = [{ what: 'claim', name: evil, reason: evil }] as const
          const report = clusterReport({
            cluster: evil,
            claims: [claim],
            unread,
            requiredLabels: [evil],
            complete: false,
          })

          const page = html(report, clusterReport())

          expect(page.match(/<script/gi)).to.have.length(2)
          expect(page.match(/<\/script/gi)).to.have.length(2)
          expect(page.match(/<img|<!--|<\/title/gi)).to.have.length(1)
          const markup = page.slice(0, page.indexOf('id="data"'))
          expect(markup).to.not.include("' onclick='")
        },
      ),
      { numRuns: 50 },
    )
  })

  it('holds the data as it is', () => {
    const data = encodePageData([clusterReport({ claims: [row({ name: '</script>&\u2028' })] })])

    expect(safeJson(data)).to.not.match(/[<>&\u2028]/)
    expect(JSON.parse(safeJson(data))).to.deep.equal(data)
  })

  it('shows what a FinOps lead asks for, without any script', () => {
    const lacking = row({ name: 'data-1', state: 'untagged', tags: [], missingLabels: ['cost-center'] })

    const page = html(clusterReport({ claims: [row(), lacking], requiredLabels: ['cost-center'] }))

    for (const text of [
      '50.0 %',
      '1 of 2 disks carry',
      'Coverage by namespace',
      'Coverage by tag',
      'Required labels',
    ]) {
      expect(page).to.include(text)
    }
    expect(page).to.include('data-filter="label" data-value="cost-center"')
  })

  it('says at the top that it is not complete, and what is missing', () => {
    const unread = [{ what: 'volumes', name: '', reason: 'forbidden' }] as const

    const page = html(clusterReport({ complete: false, unread }))

    expect(page).to.include('This report is not complete').and.include('prod volumes: forbidden')
    expect(html(clusterReport())).to.not.include('not complete')
  })

  it('shows the clusters of a fleet, and namespaces with their cluster', () => {
    const page = html(clusterReport(), clusterReport({ cluster: 'dev' }))

    expect(page).to.include('Disk tags of 2 clusters').and.include('Coverage by cluster').and.include('db · dev')
  })
})
