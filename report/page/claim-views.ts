import { isManagedState } from '../src/cluster-report.ts'
import type { TagRow } from '../src/cluster-report.ts'
import { kindWord, stateMeanings, stateWords, tagReasonWords, tagWords } from '../src/words.ts'
import { element } from './elements.ts'
import type { ListedClaim } from './list-model.ts'

/** The cells of one line of the list. */
export function claimRow(
  claim: ListedClaim,
  options: { readonly rowIndex: number; readonly withCluster: boolean; readonly open: () => void },
): HTMLElement {
  const name = element('button', { class: 'name', attributes: { type: 'button' } }, [
    element('span', { class: 'quiet', text: `${claim.namespace}/` }),
    element('span', { text: claim.name }),
  ])
  name.title = `${claim.namespace}/${claim.name}`
  name.addEventListener('click', options.open)
  const cells = [
    cell('c-claim', [name]),
    ...(options.withCluster ? [cell('c-cluster', [], claim.cluster)] : []),
    cell('c-state', [badge(claim)]),
    cell('c-tags', [], tagCount(claim)),
    cell('c-todo', todoOf(claim)),
    cell('c-disk', [], claim.disk ?? ''),
  ]
  const attributes = { role: 'row', 'aria-rowindex': String(options.rowIndex) }
  return element('div', { class: 'row', attributes }, cells)
}

function cell(name: string, children: readonly Node[], text?: string): HTMLElement {
  const made = element(
    'div',
    { class: name, attributes: { role: 'cell' }, ...(text !== undefined && { text }) },
    children,
  )
  if (text !== undefined && text !== '') made.title = text
  return made
}

function badge({ state }: ListedClaim): HTMLElement {
  return element('span', { class: `badge s-${state}`, text: stateWords[state] })
}

function tagCount({ state, wished, inPlace, tags }: ListedClaim): string {
  if (!isManagedState(state)) return ''
  return tags.some((tag) => tag.state === 'unknown') ? `? / ${wished}` : `${inPlace} / ${wished}`
}

/** What is to be done, or why nothing is. */
function todoOf({ tags, reason, problems, missingLabels }: ListedClaim): readonly Node[] {
  const reasons = reason === undefined ? [] : [element('span', { class: 'quiet', text: kindWord(reason) })]
  const changes = tags.flatMap((tag) => todoOfTag(tag) ?? [])
  const others = [
    ...problems.map(({ label, kind }) => (label === undefined ? kindWord(kind) : `${label}: ${kindWord(kind)}`)),
    ...missingLabels.map((label) => `lacks ${label}`),
  ]
  return [...reasons, ...changes, ...others.map((text) => element('span', { class: 'problem', text }))]
}

function todoOfTag({ key, value = '', present = '', state, reason }: TagRow): HTMLElement | undefined {
  switch (state) {
    case 'add':
      return element('span', { class: 'add', text: `+ ${key}=${value}` })
    case 'change':
      return element('span', { class: 'change', text: `${key}=${present} → ${value}` })
    case 'remove':
      return element('span', { class: 'remove', text: `− ${key}=${present}` })
    case 'blocked':
      return element('span', { class: 'quiet', text: `${key}: ${reason === undefined ? '' : tagReasonWords[reason]}` })
    case 'in-place':
    case 'stays':
    case 'unknown':
      return undefined
    default:
      return state satisfies never
  }
}

/** Everything about one claim, for the dialog. */
export function claimDetail(claim: ListedClaim): readonly Node[] {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Cluster', claim.cluster === '' ? undefined : claim.cluster],
    ['Storage class', claim.storageClass],
    ['Volume', claim.volume],
    ['Disk', claim.disk],
    ['Why', claim.reason === undefined ? undefined : kindWord(claim.reason)],
    ['Detail', claim.detail],
    ['Required labels missing', claim.missingLabels.length === 0 ? undefined : claim.missingLabels.join(', ')],
    ['Other tags on the disk', claim.otherTags === 0 ? undefined : String(claim.otherTags)],
  ]
  const list = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [element('dt', { text: name }), element('dd', { text: value })],
  )
  const lines = claim.problems.map(({ kind, label, message }) =>
    element('li', {}, [
      element('strong', { text: kindWord(kind) }),
      document.createTextNode(label === undefined ? ` ${message}` : ` ${label}: ${message}`),
    ]),
  )
  return [
    element('h2', { text: `${claim.namespace}/${claim.name}`, attributes: { id: 'detail-title' } }),
    element('p', {}, [badge(claim), document.createTextNode(` ${stateMeanings[claim.state]}`)]),
    element('dl', {}, list),
    ...(claim.tags.length === 0 ? [] : [tagTable(claim.tags)]),
    ...(lines.length === 0 ? [] : [element('h3', { text: 'Problems' }), element('ul', {}, lines)]),
  ]
}

function tagTable(tags: readonly TagRow[]): HTMLElement {
  const header = ['Tag', 'Wished', 'On the disk', ''].map((text) =>
    element('th', { text, attributes: { scope: 'col' } }),
  )
  const rows = tags.map(({ key, value, present, state, reason }) => {
    const words = reason === undefined ? tagWords[state] : `${tagWords[state]}: ${tagReasonWords[reason] ?? reason}`
    return element('tr', { class: `t-${state}` }, [
      element('th', { text: key, attributes: { scope: 'row' } }),
      element('td', { text: value ?? '–' }),
      element('td', { text: present ?? '–' }),
      element('td', { text: words }),
    ])
  })
  return element('table', {}, [element('thead', {}, [element('tr', {}, header)]), element('tbody', {}, rows)])
}
