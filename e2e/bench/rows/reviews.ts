import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { ProgramInPlace } from '../../src/product.ts'
import { startProgram } from '../../src/processes.ts'
import { atMost, type Measurements, type Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { untilQuiet } from '../waits.ts'

const loadFolder = path.join(import.meta.dirname, '..', 'load')
const perSecond = 1000
const rateSeconds = 10
const fullSeconds = 4
const rounds = 3
const connections = 16

interface LoadResult {
  readonly perSecond: number
  readonly latenciesMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly failed: number
}

export const reviews: Row = {
  name: 'reviews',
  title: 'AdmissionReviews of 4.7 KB over kept TLS connections',
  budget: 'none',
  clouds: ['aws'],
  claims: [1000],
  startsFrom: 'tagged',
  figures: [
    { name: 'p99', title: 'answer at 1,000 a second, p99', unit: 'ms', design: atMost(5) },
    {
      name: 'ratio',
      title: 'of what a bare node:https handler answers in the same run, as many as go',
      unit: '%',
      design: () => ({ atLeast: 60 }),
    },
    { name: 'full', title: 'answers a second, as many as go', unit: 'answers' },
    {
      name: 'memory',
      title: 'anonymous memory of the webhook at 1,000 a second, peak',
      unit: 'MiB',
      design: atMost(110),
    },
  ],
  run: measure,
}

async function measure(stage: Stage): Promise<Measurements> {
  return stage.withProduct({}, async ({ product, memory }) => {
    await untilQuiet(product, stage.cloud)
    const [webhook] = product.webhooks
    if (webhook?.webhookPort === undefined) throw new Error('There is no webhook')
    memory.forgetPeaks()
    const atRate = await load(webhook.webhookPort, { seconds: rateSeconds, perSecond })
    const peak = memory.peakOf(webhook.name)
    const { bare, ours } = await sideBySide(stage, webhook)
    stage.log(
      `  at ${perSecond}/s: ${JSON.stringify(atRate)}; as many as go: ${ours.toFixed(0)}/s, bare ${bare.toFixed(0)}/s`,
    )
    if (atRate.failed > 0) throw new Error(`${atRate.failed} reviews were not answered with 200`)
    return {
      p99: { value: atRate.latenciesMs.p99, note: `${atRate.perSecond.toFixed(0)} a second were answered` },
      ratio: { value: (ours / bare) * 100, note: `bare: ${bare.toFixed(0)} a second` },
      full: ours,
      memory: peak,
    }
  })
}

/** By turns, so that both have the same machine; the middle one of each counts. */
async function sideBySide(
  stage: Stage,
  webhook: ProgramInPlace,
): Promise<{ readonly bare: number; readonly ours: number }> {
  const bareServer = await startProgram({
    name: 'bare-server',
    entry: path.join(loadFolder, 'bare-server.ts'),
    args: [stage.tlsFolder],
    logFile: path.join(stage.tlsFolder, '..', 'bare-server.log'),
  })
  try {
    const barePort = Number(await bareServer.log.waitForLine(/^\d+$/))
    const bare: number[] = []
    const ours: number[] = []
    for (let i = 0; i < rounds; i++) {
      bare.push((await load(barePort, { seconds: fullSeconds, perSecond: 0 })).perSecond)
      ours.push((await load(webhook.webhookPort ?? 0, { seconds: fullSeconds, perSecond: 0 })).perSecond)
    }
    return { bare: middle(bare), ours: middle(ours) }
  } finally {
    await bareServer.stop()
  }
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

async function load(
  port: number,
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number },
): Promise<LoadResult> {
  const args = [path.join(loadFolder, 'review-load.ts'), port, connections, seconds, perSecond].map(String)
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as LoadResult
}
