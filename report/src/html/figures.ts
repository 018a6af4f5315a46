import { claimStates } from '../cluster-report.ts'
import type { Coverage, Summary } from '../summary.ts'
import { counted, grouped, kindWord, percent, stateMeanings, stateWords } from '../words.ts'
import { barOf } from './bar.ts'
import { escapeHtml as escape } from './escape.ts'

/** The four figures that the page begins with. */
export function figures(summary: Summary): string {
  const cards = [coverageCard(summary), writesCard(summary), problemsCard(summary), labelsCard(summary)]
  return `<section class="figures" aria-label="Figures">${cards.map(card).join('')}</section>
`
}

interface Card {
  readonly title: string
  readonly figure: string
  readonly mood: Mood
  readonly text: string
  readonly bar?: Coverage
}

type Mood = '' | 'good' | 'due' | 'bad'

function card({ title, figure, mood, text, bar }: Card): string {
  const shown = bar === undefined ? '' : barOf(bar)
  return `<div class="card"><h2>${title}</h2><div class="figure ${mood}">${escape(figure)}</div>${shown}<p>${escape(text)}</p></div>`
}

function coverageCard({ coverage }: Summary): Card {
  const { covered, all } = coverage
  return {
    title: 'Coverage',
    figure: percent(covered, all),
    mood: moodOf(coverage),
    text: `${grouped(covered)} of ${counted(all, 'disk')} carry every tag that is wished`,
    bar: coverage,
  }
}

function moodOf({ covered, all }: Coverage): Mood {
  if (covered === all) return 'good'
  return covered >= 0.9 * all ? '' : 'due'
}

function writesCard({ wouldWrite: { disks, add, change, remove, cloudCalls } }: Summary): Card {
  const tags = `${grouped(add)} tags added, ${grouped(change)} changed, ${grouped(remove)} removed`
  return {
    title: 'To be written',
    figure: counted(disks, 'disk'),
    mood: disks > 0 ? 'due' : 'good',
    text: disks === 0 ? 'no write is due' : `${tags}, in about ${counted(cloudCalls, 'call')}`,
  }
}

function problemsCard({ problems, withProblems, states: counts }: Summary): Card {
  const [most] = problems
  if (most === undefined)
    return { title: 'Problems', figure: 'None', mood: 'good', text: 'every claim is as it should be' }
  const text = `${counted(problems.length, 'kind')}, most often: ${kindWord(most.kind)}`
  return {
    title: 'Problems',
    figure: counted(withProblems, 'claim'),
    mood: counts.missing + counts.unread > 0 ? 'bad' : 'due',
    text,
  }
}

function labelsCard({ missingLabels, lackingLabels, claims, coverage }: Summary): Card {
  const [most] = missingLabels
  if (most === undefined) {
    return {
      title: 'Claims',
      figure: grouped(claims),
      mood: '',
      text: `${grouped(coverage.all)} of them have a disk to tag`,
    }
  }
  const title = 'Required labels'
  if (lackingLabels === 0)
    return { title, figure: 'All there', mood: 'good', text: `on ${counted(coverage.all, 'claim')}` }
  const text = `lack a required label, most often ${most.label}`
  return { title, figure: counted(lackingLabels, 'claim'), mood: 'due', text }
}

/** How many claims are in which state, as one strip and as buttons that filter the list. */
export function states({ states: counts, claims }: Summary): string {
  if (claims === 0) return ''
  let x = 0
  const present = claimStates.filter((state) => counts[state] > 0)
  const parts = present.map((state) => {
    const width = (counts[state] / claims) * 100
    const part = `<rect class="s-${state}" x="${x.toFixed(3)}%" width="${width.toFixed(3)}%" height="100%"/>`
    x += width
    return part
  })
  const legend = present.map(
    (state) =>
      `<li><button type="button" class="s-${state}" data-filter="state" data-value="${state}" aria-pressed="false" title="${escape(stateMeanings[state])}"><span>${stateWords[state]} <b>${grouped(counts[state])}</b></span></button></li>`,
  )
  return `<section class="card strip" aria-label="Claims by state"><h2>Claims by state</h2><svg class="bar" aria-hidden="true">${parts.join('')}</svg><ul class="legend">${legend.join('')}</ul></section>
`
}
