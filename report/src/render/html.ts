import { createHash } from 'node:crypto'
import type { ClusterReport } from '../cluster-report.ts'
import { encodePageData, safeJson } from '../html/encode-page-data.ts'
import { escapeHtml as escape } from '../html/escape.ts'
import { figures, states } from '../html/figures.ts'
import { panels } from '../html/panels.ts'
import { pageScript, pageStyle } from '../html/page-assets.ts'
import { summarize } from '../summary.ts'
import type { Summary } from '../summary.ts'
import { counted, grouped } from '../words.ts'

/**
 * One page with all that it needs: it is opened from a disk or a mail, and asks nobody for anything. Its policy lets
 * nothing run but its own script. Figures and bars are plain HTML; only the list needs the script.
 */
export function* renderHtml(clusters: readonly ClusterReport[]): Iterable<string> {
  const summary = summarize(clusters)
  yield head(titleOf(clusters))
  yield header(clusters)
  yield `<main${clusters.length > 1 ? ' class="fleet"' : ''}>`
  yield warnings(clusters)
  yield figures(summary)
  yield states(summary)
  yield panels(summary, clusters.length > 1)
  yield listFrame(clusters.length > 1)
  yield '</main>'
  yield footer(clusters, summary)
  yield `<script type="application/json" id="data">`
  yield safeJson(encodePageData(clusters))
  yield `</script>\n<script>${pageScript}</script>\n</body>\n</html>\n`
}

function head(title: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(pageScript)}'`,
    `style-src '${hashOf(pageStyle)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escape(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
`
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

function titleOf(clusters: readonly ClusterReport[]): string {
  const [first] = clusters
  if (clusters.length !== 1) return `Disk tags of ${counted(clusters.length, 'cluster')}`
  return first?.cluster === undefined || first.cluster === '' ? 'Disk tags' : `Disk tags of ${first.cluster}`
}

const cloudWords = { aws: 'AWS', gcp: 'Google Cloud', azure: 'Azure', mock: 'mock cloud' } as const

function header(clusters: readonly ClusterReport[]): string {
  const clouds = [...new Set(clusters.map(({ cloud }) => cloudWords[cloud] ?? cloud))].join(', ')
  const times = clusters.map(({ generatedAt }) => generatedAt).toSorted()
  const [from = '', to = from] = [times.at(0), times.at(-1)]
  const byRecords = clusters.filter(({ source }) => source === 'records').length
  const source =
    byRecords === 0
      ? 'disks read from the cloud'
      : byRecords === clusters.length
        ? 'by the records on the volumes, no disk was read'
        : `${byRecords} of the clusters by records alone`
  const namespaces = [...new Set(clusters.flatMap((each) => each.namespaces))]
  const only = namespaces.length === 0 ? '' : ` · only namespace ${namespaces.join(', ')}`
  const when = from.slice(0, 16) === to.slice(0, 16) ? timeWord(from) : `${timeWord(from)} to ${timeWord(to)}`
  return `<header><h1>${escape(titleOf(clusters))}</h1>
<p class="meta">${escape(`${clouds} · ${when} · ${source}${only}`)}</p></header>
`
}

function timeWord(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}

function warnings(clusters: readonly ClusterReport[]): string {
  const lines = clusters.flatMap(({ cluster, unread }) =>
    unread.map(
      ({ what, name, reason }) => `${[cluster, what, name].filter((part) => part !== '').join(' ')}: ${reason}`,
    ),
  )
  if (clusters.every(({ complete }) => complete) && lines.length === 0) return ''
  const items = lines.map((line) => `<li>${escape(line)}</li>`).join('')
  return `<div class="warning" role="alert"><strong>This report is not complete.</strong> What could not be read counts as not covered.<ul>${items}</ul></div>
`
}

function listFrame(isFleet: boolean): string {
  const column = (name: string, cell: string, sort?: string) => {
    const inner = sort === undefined ? name : `<button type="button" data-sort="${sort}">${name}</button>`
    const order = sort === undefined ? '' : ` aria-sort="${sort === 'state' ? 'ascending' : 'none'}"`
    return `<div class="${cell}" role="columnheader"${order}>${inner}</div>`
  }
  return `<section class="card" aria-label="Claims">
<div class="tools"><h2>Claims</h2><input id="search" type="search" placeholder="Search names, disks, tags … (press /)" aria-label="Search claims" autocomplete="off" spellcheck="false"><span id="chips"></span><span id="count" role="status"></span></div>
<noscript><p>The list needs JavaScript; all else on this page does not.</p></noscript>
<div id="list" role="table" aria-label="Claims" tabindex="0">
<div class="head" role="row" aria-rowindex="1">${column('Claim', 'c-claim', 'claim')}${isFleet ? column('Cluster', 'c-cluster', 'cluster') : ''}${column('State', 'c-state', 'state')}${column('Tags', 'c-tags', 'tags')}${column('What is to be done, or why nothing is', 'c-todo')}${column('Disk', 'c-disk', 'disk')}</div>
<div id="canvas" role="rowgroup"></div><p id="empty" hidden>No claim fits.</p>
</div></section>
<dialog id="detail" aria-labelledby="detail-title"><button type="button" id="close">Close</button><div id="detail-body"></div></dialog>
`
}

function footer(clusters: readonly ClusterReport[], { cloudCalls, kubernetesCalls }: Summary): string {
  const programs = [...new Set(clusters.map(({ program }) => program))].join(', ')
  const hashes = [...new Set(clusters.map(({ configHash }) => configHash))]
  const rules = hashes.length === 1 ? `rules ${hashes[0]}` : `${hashes.length} sets of rules`
  return `<footer>Coverage: of the disks that are managed, those that carry at least one wished tag and each of them as it is wished. Made by k8s-cloud-tagger ${escape(programs)} with ${escape(rules)}, with ${counted(cloudCalls, 'read call')} to the cloud and ${grouped(kubernetesCalls)} to the API server. Nothing was written.</footer>
`
}
