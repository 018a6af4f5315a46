import type { Coverage, NamedCoverage, Summary } from '../summary.ts'
import { counted, grouped, kindWord, percent } from '../words.ts'
import { barOf } from './bar.ts'
import { escapeHtml as escape } from './escape.ts'

/** More bars than these help nobody; the list finds the rest. */
const itemsMax = 300

/** Coverage by cluster, namespace and tag, problems by kind, required labels: each item filters the list. */
export function panels(summary: Summary, isFleet: boolean): string {
  const { byCluster, byNamespace, byKey, problems, missingLabels, coverage } = summary
  const all = [
    isFleet ? coveragePanel('Coverage by cluster', 'cluster', byCluster) : '',
    coveragePanel('Coverage by namespace', 'namespace', byNamespace, isFleet),
    coveragePanel('Coverage by tag', 'key', byKey),
    problems.length === 0 ? '' : panel('Problems', problems.length, problems.slice(0, itemsMax).map(problemItem)),
    missingLabels.length === 0
      ? ''
      : panel(
          'Required labels',
          missingLabels.length,
          missingLabels.map(({ label, claims }) =>
            labelItem(label, { covered: coverage.all - claims, all: coverage.all }),
          ),
        ),
  ]
  return `<section class="panels" aria-label="Coverage and problems">${all.join('')}</section>
`
}

function panel(title: string, count: number, items: readonly string[]): string {
  const more =
    count > items.length ? `<p>… and ${grouped(count - items.length)} more; search the list for them</p>` : ''
  return `<div class="card"><h2>${title}</h2><ul class="items">${items.join('')}</ul>${more}</div>`
}

function coveragePanel(
  title: string,
  filter: string,
  coverages: readonly (NamedCoverage & { readonly cluster?: string })[],
  withCluster = false,
): string {
  if (coverages.length === 0) return ''
  const items = coverages.slice(0, itemsMax).map(({ name, cluster, ...coverage }) => {
    const label = withCluster ? `${name} · ${cluster}` : name
    const ofCluster = withCluster ? ` data-cluster="${escape(cluster ?? '')}"` : ''
    return item(`data-filter="${filter}" data-value="${escape(name)}"${ofCluster}`, label, coverage)
  })
  return panel(title, coverages.length, items)
}

function labelItem(label: string, coverage: Coverage): string {
  return item(`data-filter="label" data-value="${escape(label)}"`, label, coverage)
}

function item(attributes: string, label: string, coverage: Coverage): string {
  const { covered, all } = coverage
  return `<li><button type="button" ${attributes} aria-pressed="false"><span class="label" title="${escape(label)}">${escape(label)}</span><span class="number"><b>${percent(covered, all)}</b> ${grouped(covered)} of ${grouped(all)}</span>${barOf(coverage)}</button></li>`
}

function problemItem({ kind, claims, example }: Summary['problems'][number]): string {
  const text = example.message === '' ? example.claim : `${example.claim}: ${example.message}`
  return `<li><button type="button" data-filter="problem" data-value="${escape(kind)}" aria-pressed="false"><span class="label">${escape(kindWord(kind))}</span><span class="number"><b>${counted(claims, 'claim')}</b></span><span class="example" title="${escape(text)}">${escape(text)}</span></button></li>`
}
