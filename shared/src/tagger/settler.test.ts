import { expect } from 'chai'
import { claim as aClaim, volume as aVolume } from '../../testing/builders.ts'
import { settle } from '../../testing/fake-clock.ts'
import { KubernetesError } from '../kubernetes/kubernetes-error.ts'
import type { Volume } from '../claims/volume.ts'
import { silentLogger } from '../runtime/logger.ts'
import type { ClusterCallOptions, RecordWriter } from './ports.ts'
import { Settler } from './settler.ts'

const { key } = aClaim()

interface Call {
  readonly volume: Volume
  readonly options: ClusterCallOptions
  /** It leaves: from here on it can only be waited for. */
  readonly send: () => string
  readonly succeed: () => void
  readonly fail: () => void
}

function start() {
  const calls: Call[] = []
  const unsettled: [string, number][] = []
  const records: RecordWriter = {
    writeRecord: (volume, applied, options) =>
      new Promise((resolve, reject) => {
        const send = () => (typeof applied === 'string' ? applied : applied())
        options.signal.addEventListener('abort', () => reject(new KubernetesError('unavailable', 'given up')))
        calls.push({
          volume,
          options,
          send,
          succeed: () => resolve({ ...volume, applied: send(), resourceVersion: '999' }),
          fail: () => reject(new KubernetesError('conflict', 'the volume changed')),
        })
      }),
  }
  const settler = new Settler({
    records,
    logger: silentLogger,
    onUnsettled: (claim, failures) => void unsettled.push([claim, failures]),
  })
  return { settler, calls, unsettled }
}

describe('Settler', () => {
  it('closes a record without holding anybody up, behind all other calls', async () => {
    const { settler, calls } = start()

    settler.settle(key, aVolume(), 'closed')

    expect(calls[0]?.options.priority).to.equal('housekeeping')
    calls[0]?.succeed()
    await settler.drained()
  })

  it('knows of nothing later where nothing is under way', async () => {
    const { settler } = start()

    expect(await settler.takeOver(aVolume())).to.equal(undefined)
  })

  it('hands what was decided and not sent to the next job, and does not send it any more', async () => {
    const { settler, calls, unsettled } = start()
    const volume = aVolume()
    settler.settle(key, volume, 'closed')

    const latest = await settler.takeOver(volume)

    expect(latest).to.deep.equal({ volume, decided: 'closed' })
    expect(() => calls[0]?.send()).to.throw()
    calls[0]?.fail()
    await settle()
    expect(unsettled).to.deep.equal([])
  })

  it('lets the next job wait for what was sent, and go on from its answer', async () => {
    const { settler, calls } = start()
    settler.settle(key, aVolume(), 'closed')
    calls[0]?.send()
    const taking = settler.takeOver(aVolume())
    let taken = false
    void taking.then(() => (taken = true))
    await settle()
    expect(taken).to.equal(false)

    calls[0]?.succeed()

    expect((await taking)?.volume).to.include({ applied: 'closed', resourceVersion: '999' })
  })

  it('lets the next job go on from what it read where the record was not taken', async () => {
    const { settler, calls, unsettled } = start()
    settler.settle(key, aVolume(), 'closed')
    calls[0]?.send()
    const taking = settler.takeOver(aVolume())

    calls[0]?.fail()

    expect(await taking).to.equal(undefined)
    expect(unsettled).to.deep.equal([[key, 1]])
  })

  it('asks for another look each time it fails, and says how often in a row it did', async () => {
    const { settler, calls, unsettled } = start()
    for (const outcome of ['fail', 'fail', 'succeed', 'fail'] as const) {
      settler.settle(key, aVolume(), 'closed')
      calls.at(-1)?.[outcome]()
      await settler.drained()
    }

    expect(unsettled).to.deep.equal([
      [key, 1],
      [key, 2],
      [key, 1],
    ])
  })

  it('keeps volumes apart', async () => {
    const { settler, calls } = start()
    settler.settle(key, aVolume(), 'first')
    settler.settle(key, aVolume({ name: 'pv-2', uid: 'volume-uid-2' }), 'second')

    expect((await settler.takeOver(aVolume({ uid: 'volume-uid-2' })))?.decided).to.equal('second')

    expect(calls[0]?.send()).to.equal('first')
    calls[0]?.succeed()
    await settler.drained()
  })

  it('lets bulk work wait while thousands of records wait for the API server', async () => {
    const { settler, calls } = start()
    for (let i = 0; i < 2001; i++) settler.settle(key, aVolume({ uid: `volume-uid-${i}` }), 'closed')
    let room = false
    const waiting = settler.hasRoom().then(() => (room = true))
    await settle()
    expect(room).to.equal(false)

    calls[0]?.succeed()

    await waiting
  })

  it('wakes all that wait for room, since one that then fails would wake nobody', async () => {
    const { settler, calls } = start()
    for (let i = 0; i < 2001; i++) settler.settle(key, aVolume({ uid: `volume-uid-${i}` }), 'closed')
    const waiting = Promise.all([settler.hasRoom(), settler.hasRoom(), settler.hasRoom()])

    calls[0]?.succeed()

    await waiting
  })

  it('gives up at the end without asking anybody to look again', async () => {
    const { settler, unsettled } = start()
    settler.settle(key, aVolume(), 'closed')

    settler.abort()
    await settler.drained()

    expect(unsettled).to.deep.equal([])
  })
})
