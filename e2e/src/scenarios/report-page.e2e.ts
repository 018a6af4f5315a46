import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { BrowserPage } from '../browser.ts'
import { sampleReport, seededChance } from '../report-sample.ts'
import { scenarioFolder } from '../scenario-folder.ts'

const run = promisify(execFile)
const command = path.join(import.meta.dirname, '..', '..', '..', 'dist', 'k8s-cloud-tagger.js')

/** What a tenant might write to break out of the page. */
const hostile = '</script><script>document.title = "broken out"</script><img src=x onerror=alert(1)>'

describe("the report's page in a browser", () => {
  let page: BrowserPage
  let file: string
  let loadMs: number

  before('opens it with 10,000 claims', async () => {
    const dir = scenarioFolder('report-page')
    const report = sampleReport({ cluster: 'prod-eu-1', claims: 10_000, next: seededChance(7) })
    const [first, ...others] = report.claims
    const evil = { ...first!, namespace: 'evil', tags: [{ key: hostile, value: hostile, state: 'add' as const }] }
    const json = path.join(dir, 'report.json')
    await writeFile(json, JSON.stringify({ ...report, claims: [evil, ...others] }))
    file = path.join(dir, 'report.html')
    await run(process.execPath, [command, 'report', '--merge', json, '--file', file])
    page = await BrowserPage.open(dir)
    loadMs = await page.load(file)
    console.log(`      loaded in ${loadMs.toFixed(0)} ms`)
  })

  after('closes it', async () => {
    await page?.close()
  })

  async function search(text: string): Promise<{ readonly count: string; readonly ms: number }> {
    return page.evaluate(`(() => {
      const input = document.querySelector('#search')
      input.value = ${JSON.stringify(text)}
      const start = performance.now()
      input.dispatchEvent(new Event('input'))
      return { count: document.querySelector('#count').textContent, ms: performance.now() - start }
    })()`)
  }

  function countOf({ count }: { readonly count: string }): number {
    return Number(count.split(' ')[0]?.replaceAll(',', ''))
  }

  function shownClaims(): Promise<readonly string[]> {
    return page.evaluate(`[...document.querySelectorAll('.row .name')].map((name) => name.textContent)`)
  }

  it('is there within three seconds, asks for nothing else, and complains about nothing', async () => {
    expect(loadMs).to.be.below(3000)
    expect(page.requests).to.deep.equal([`file://${file}`])
    expect(page.complaints).to.deep.equal([])
    expect(await page.evaluate('document.title')).to.equal('Disk tags of prod-eu-1')
  })

  it('shows what a label says as text, whatever it says', async () => {
    await search('evil/')

    const shown = await page.evaluate<string>(`document.querySelector('.row .c-todo').textContent`)
    expect(shown).to.include(hostile)
    expect(await page.evaluate('document.images.length')).to.equal(0)
    expect(await page.evaluate('document.title')).to.equal('Disk tags of prod-eu-1')
  })

  it('finds claims by every word of a search, quickly', async () => {
    const first = await search('kafka stage=prod')
    const second = await search('kafka stage=prod team=checkout')
    console.log(`      searched in ${first.ms.toFixed(1)} ms and ${second.ms.toFixed(1)} ms`)

    expect(first.count).to.match(/^[\d,]+ of 10,000 claims$/)
    expect(countOf(second)).to.be.within(1, countOf(first) - 1)
    for (const name of await shownClaims()) expect(name).to.include('kafka').and.include('checkout-prod')
    expect(second.ms).to.be.below(200)
  })

  it('says that nothing fits, instead of showing an empty list', async () => {
    const { count } = await search('no such thing anywhere')

    expect(count).to.equal('0 of 10,000 claims')
    expect(await page.evaluate(`document.querySelector('#empty').hidden`)).to.equal(false)
  })

  it('scrolls through all claims with few rows in the document', async () => {
    await search('')
    const before = await shownClaims()

    await page.evaluate(`document.querySelector('#list').scrollTop = 5000 * 34`)
    await page.until(`document.querySelector('.row .name').textContent !== ${JSON.stringify(before[0])}`)

    const after = await shownClaims()
    expect(after.some((name) => before.includes(name))).to.equal(false)
    expect(after.length).to.be.within(10, 120)
    await page.evaluate(`document.querySelector('#list').scrollTop = 1e9`)
    await page.until(
      `[...document.querySelectorAll('.row')].some((row) => row.getAttribute('aria-rowindex') === '10001')`,
    )
  })

  it('filters by a state, and sorts by a column', async () => {
    await page.evaluate(`document.querySelector('[data-filter="state"][data-value="missing"]').click()`)
    const states = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.row .badge')].map((b) => b.textContent)`,
    )
    await page.evaluate(`document.querySelector('[data-sort="claim"]').click()`)
    const ascending = await shownClaims()
    await page.evaluate(`document.querySelector('[data-sort="claim"]').click()`)
    const descending = await shownClaims()

    expect(new Set(states)).to.deep.equal(new Set(['Disk not found']))
    expect(ascending[0]! < descending[0]!).to.equal(true)
    const sort = await page.evaluate(
      `document.querySelector('[data-sort="claim"]').parentElement.getAttribute('aria-sort')`,
    )
    expect(sort).to.equal('descending')
    await page.evaluate(`document.querySelector('.chip').click()`)
    expect((await search('')).count).to.equal('10,000 claims')
  })

  it('opens a claim with its tags', async () => {
    await page.evaluate(`document.querySelector('.row .name').click()`)

    expect(await page.evaluate(`document.querySelector('#detail').open`)).to.equal(true)
    expect(await page.evaluate(`document.querySelector('#detail h2').textContent`)).to.equal((await shownClaims())[0])
    await page.evaluate(`document.querySelector('#close').click()`)
    expect(await page.evaluate(`document.querySelector('#detail').open`)).to.equal(false)
  })

  it('is dark for those who like it dark', async () => {
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    await page.darkMode(false)
    const light = await background()

    await page.darkMode(true)

    expect(light).to.equal('rgb(246, 247, 249)')
    expect(await background()).to.equal('rgb(18, 21, 27)')
    expect(page.complaints).to.deep.equal([])
  })
})
