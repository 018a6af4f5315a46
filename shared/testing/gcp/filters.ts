import type { Disk } from './disk-store.ts'
import { invalid } from './wire.ts'

export type DiskFilter = (disk: Disk) => boolean

const term = /^(name|labels\.[^\s=!:]+)\s*(=|!=|:)\s*(?:"([^"]*)"|([^\s"]+))$/

/**
 * The part of the filter language that lists of disks need: `labels.key=value`, `labels.key:*`, `name="x"`, `!=`, joined
 * by AND, each in parentheses or not. Anything else is refused, as a client's mistake should be.
 */
export function parseFilter(filter: string | null): DiskFilter {
  if (filter === null || filter === '') return () => true
  const terms = filter
    .split(/\s+AND\s+|(?<=\))\s*(?=\()/)
    .map((text) => termOf(text.replace(/^\((.*)\)$/, '$1'), filter))
  return (disk) => terms.every((holds) => holds(disk))
}

function termOf(text: string, whole: string): DiskFilter {
  const [, field = '', operator, quoted, bare = ''] = term.exec(text.trim()) ?? []
  if (field === '') throw invalid(`Invalid value for field 'filter': '${whole}'. Invalid list filter expression.`)
  const wanted = quoted ?? bare
  const valueOf = (disk: Disk) => (field === 'name' ? disk.name : disk.labels.get(field.slice('labels.'.length)))
  if (operator === '!=') return (disk) => valueOf(disk) !== wanted
  if (operator === '=') return (disk) => valueOf(disk) === wanted
  return (disk) => (wanted === '*' ? valueOf(disk) !== undefined : (valueOf(disk) ?? '').includes(wanted))
}
