/** The page's one script: the list of claims. Figures and bars are in the page already and need none of it. */
import type { PageData } from '../src/html/page-data.ts'
import { grouped, kindWord, stateWords } from '../src/words.ts'
import { claimDetail, claimRow } from './claim-views.ts'
import { element, need } from './elements.ts'
import { ListModel } from './list-model.ts'
import type { Column, FilterName, Filters } from './list-model.ts'
import { VirtualList } from './virtual-list.ts'

const rowHeightPx = 34

class ClaimList {
  readonly #model: ListModel
  readonly #withCluster: boolean
  readonly #list: VirtualList
  readonly #table = need('#list', HTMLElement)
  readonly #search = need('#search', HTMLInputElement)
  readonly #count = need('#count', HTMLElement)
  readonly #chips = need('#chips', HTMLElement)
  readonly #empty = need('#empty', HTMLElement)
  readonly #dialog = need('#detail', HTMLDialogElement)
  readonly #detail = need('#detail-body', HTMLElement)
  #filters: Filters = {}
  #sort: { readonly column: Column; readonly descending: boolean } = { column: 'state', descending: false }
  #selected: readonly number[] = []

  constructor(data: PageData) {
    this.#model = new ListModel(data)
    this.#withCluster = data.clusters.length > 1
    this.#list = new VirtualList({
      viewport: this.#table,
      canvas: need('#canvas', HTMLElement),
      rowHeightPx,
      makeRow: (position) => this.#row(position),
    })
  }

  start(): void {
    this.#search.addEventListener('input', () => this.#refresh())
    for (const button of document.querySelectorAll<HTMLElement>('[data-filter]')) {
      button.addEventListener('click', () => this.#toggle(button.dataset))
    }
    for (const button of document.querySelectorAll<HTMLElement>('[data-sort]')) {
      button.addEventListener('click', () => this.#sortBy(button.dataset['sort'] as Column))
    }
    need('#close', HTMLElement).addEventListener('click', () => this.#dialog.close())
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.#dialog.close()
    })
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement || this.#dialog.open) return
      event.preventDefault()
      this.#search.focus()
    })
    this.#refresh()
  }

  #toggle({ filter, value = '', cluster }: DOMStringMap): void {
    const name = filter as FilterName
    const { [name]: current, ...rest } = this.#filters
    const isSame = current === value && (cluster === undefined || this.#filters.cluster === cluster)
    if (isSame) this.#filters = rest
    else this.#filters = { ...rest, [name]: value, ...(cluster !== undefined && { cluster }) }
    this.#refresh()
    this.#table.scrollIntoView({ block: 'nearest' })
  }

  #drop(name: FilterName): void {
    const { [name]: _, ...rest } = this.#filters
    this.#filters = rest
    this.#refresh()
    this.#search.focus()
  }

  #sortBy(column: Column): void {
    const descending = this.#sort.column === column && !this.#sort.descending
    this.#sort = { column, descending }
    for (const header of document.querySelectorAll('[aria-sort]')) {
      const isThis = header.querySelector(`[data-sort="${column}"]`) !== null
      const direction = descending ? 'descending' : 'ascending'
      header.setAttribute('aria-sort', isThis ? direction : 'none')
    }
    this.#refresh()
  }

  #refresh(): void {
    this.#selected = this.#model.select({ search: this.#search.value, filters: this.#filters, sort: this.#sort })
    const all = this.#model.claims.length
    const shown = this.#selected.length
    this.#count.textContent = shown === all ? `${grouped(all)} claims` : `${grouped(shown)} of ${grouped(all)} claims`
    this.#empty.hidden = shown > 0
    this.#table.setAttribute('aria-rowcount', String(shown + 1))
    this.#showFilters()
    this.#list.show(shown)
  }

  #showFilters(): void {
    const chips = Object.entries(this.#filters).map(([name, value]) => {
      const text = `${filterWords[name as FilterName]} ${filterValue(name as FilterName, value)}`
      const chip = element('button', { class: 'chip', attributes: { type: 'button', 'aria-label': `Drop: ${text}` } }, [
        document.createTextNode(text),
        element('span', { text: ' ×', attributes: { 'aria-hidden': 'true' } }),
      ])
      chip.addEventListener('click', () => this.#drop(name as FilterName))
      return chip
    })
    this.#chips.replaceChildren(...chips)
    for (const button of document.querySelectorAll<HTMLElement>('[data-filter]')) {
      const { filter, value, cluster } = button.dataset
      const isSet = this.#filters[filter as FilterName] === value
      const isOfCluster = cluster === undefined || this.#filters.cluster === cluster
      button.setAttribute('aria-pressed', String(isSet && isOfCluster))
    }
  }

  #row(position: number): HTMLElement {
    const claim = this.#model.claims[this.#selected[position] ?? -1]
    if (claim === undefined) return element('div')
    const open = () => {
      this.#detail.replaceChildren(...claimDetail(claim))
      this.#dialog.showModal()
    }
    return claimRow(claim, { rowIndex: position + 2, withCluster: this.#withCluster, open })
  }
}

const filterWords: Readonly<Record<FilterName, string>> = {
  state: 'State:',
  cluster: 'Cluster:',
  namespace: 'Namespace:',
  key: 'Tag not in place:',
  problem: 'Problem:',
  label: 'Lacks label:',
}

function filterValue(name: FilterName, value: string): string {
  if (name === 'state' && Object.hasOwn(stateWords, value)) return stateWords[value as keyof typeof stateWords]
  return name === 'problem' ? kindWord(value) : value
}

const list = new ClaimList(JSON.parse(need('#data', HTMLElement).textContent ?? '') as PageData)
list.start()
document.documentElement.dataset['ready'] = 'true'
