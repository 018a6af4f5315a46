// Sends reviews to a server on this machine, as a process of its own so that it has a processor for itself:
//
//   node e2e/bench/load/review-load.ts <port> <connections> <seconds> <per second, or 0 for as many as go>
//
// Prints one line of JSON: { perSecond, latenciesMs: { p50, p99, max }, failed }. A latency counts from when the review
// was due, so that a server which stands still cannot hide it.
import { setTimeout as sleep } from 'node:timers/promises'
import { distribution } from '../../src/percentiles.ts'
import { reviewBody } from './review-body.ts'
import { ReviewConnection } from './review-connection.ts'

const [port = 0, connectionCount = 1, seconds = 1, perSecond = 0] = process.argv.slice(2).map(Number)
const warmUpMs = 2000

const body = reviewBody()
const connections = await Promise.all(Array.from({ length: connectionCount }, () => ReviewConnection.open(port, body)))
const latencies: number[] = []
let failed = 0

async function send(connection: ReviewConnection, dueMs: number): Promise<void> {
  const status = await connection.send()
  latencies.push(performance.now() - dueMs)
  if (status !== 200) failed++
}

async function asManyAsGo(untilMs: number): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < untilMs) await send(connection, performance.now())
    }),
  )
}

/** Each connection has its own beat, all evenly apart. One that is late sends at once. */
async function atRate(untilMs: number): Promise<void> {
  const startMs = performance.now()
  const beatMs = (connectionCount / perSecond) * 1000
  await Promise.all(
    connections.map(async (connection, index) => {
      let dueMs = startMs + (beatMs * index) / connectionCount
      while (dueMs < untilMs) {
        const waitMs = dueMs - performance.now()
        if (waitMs > 0) await sleep(waitMs)
        // A timer rings up to a millisecond late, which is not the server's doing.
        await send(connection, waitMs > 0 ? Math.max(dueMs, performance.now()) : dueMs)
        dueMs += beatMs
      }
    }),
  )
}

async function run(durationMs: number): Promise<number> {
  const startMs = performance.now()
  await (perSecond === 0 ? asManyAsGo : atRate)(startMs + durationMs)
  return (performance.now() - startMs) / 1000
}

await run(warmUpMs)
latencies.length = 0
const tookSeconds = await run(seconds * 1000)
for (const connection of connections) connection.close()
const { p50, p99, max, count } = distribution(latencies)
console.log(JSON.stringify({ perSecond: count / tookSeconds, latenciesMs: { p50, p99, max }, failed }))
