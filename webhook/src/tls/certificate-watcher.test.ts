import { expect } from 'chai'
import { CertificateAuthority, validFor } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import type { KeyAndCertificate } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { CapturedLog } from '@k8s-cloud-tagger/shared/testing/programs/captured-log.ts'
import { eventually } from '@k8s-cloud-tagger/shared/testing/programs/eventually.ts'
import { SecretFolder } from '@k8s-cloud-tagger/shared/testing/programs/secret-folder.ts'
import { CertificateWatcher } from './certificate-watcher.ts'

const pollMs = 10_000

describe('CertificateWatcher', () => {
  let authority: CertificateAuthority
  let folder: SecretFolder
  let clock: FakeClock
  let log: CapturedLog
  let watcher: CertificateWatcher
  let taken: string[]
  let attempts: string[]

  before(async () => {
    authority = await CertificateAuthority.create()
  })

  beforeEach(async () => {
    folder = await SecretFolder.create()
    clock = new FakeClock()
    log = new CapturedLog()
    taken = []
    attempts = []
    watcher = new CertificateWatcher({
      directory: folder.path,
      clock,
      logger: log,
      onPair: (pair) => void taken.push(pair.cert),
      onAttempt: (outcome) => void attempts.push(outcome),
    })
  })

  afterEach(async () => {
    watcher.stop()
    expect(clock.pendingTimers).to.equal(0)
    await folder.delete()
  })

  function issue(): Promise<KeyAndCertificate> {
    return authority.issue(['webhook.svc'])
  }

  /** Lets the clock go on, and waits for the look that this leads to. */
  async function lookAfter(ms: number): Promise<void> {
    const before = attempts.length
    await clock.step(ms)
    await eventually('another look at the files', () => attempts.length > before)
  }

  /** The look that the folder's own sign leads to, long before the poll. */
  async function signedLook(): Promise<void> {
    await eventually('a sign from the folder', () => clock.pendingTimers === 2)
    await lookAfter(200)
  }

  it('takes the pair that is there at the start', async () => {
    const pair = await issue()
    await folder.writePair(pair)

    await watcher.start()

    expect(taken).to.deep.equal([pair.certificate])
    expect(watcher.current?.notAfterMs).to.be.closeTo(validFor(90).notAfterMs, 60_000)
    expect(log.at('info')).to.deep.equal(['certificate loaded'])
  })

  it('waits for files that are not there yet, in a folder that is not there yet', async () => {
    await watcher.start()
    expect(watcher.current).to.equal(undefined)
    expect(log.at('warn')).to.deep.equal(['certificate cannot be loaded'])

    const pair = await issue()
    await folder.swap(pair)
    await lookAfter(pollMs)

    expect(taken).to.deep.equal([pair.certificate])
  })

  it('H7: sees each of several swaps in a row without waiting for its poll', async () => {
    const pairs = [await issue(), await issue(), await issue(), await issue()]
    await folder.swap(pairs[0]!)
    await watcher.start()

    for (const pair of pairs.slice(1)) {
      await folder.swap(pair)
      await signedLook()
    }

    expect(taken).to.deep.equal(pairs.map(({ certificate }) => certificate))
    expect(clock.monotonicMs()).to.be.below(pollMs)
    expect(attempts.filter((attempt) => attempt === 'loaded')).to.have.length(4)
  })

  it('sees plain files that are written over', async () => {
    await folder.writePair(await issue())
    await watcher.start()

    const renewed = await issue()
    await folder.writePair(renewed)
    await signedLook()

    expect(watcher.current?.cert).to.equal(renewed.certificate)
  })

  it('takes a new chain for the same certificate', async () => {
    const pair = await issue()
    await folder.writePair(pair)
    await watcher.start()

    const chained = `${pair.certificate}\n${authority.certificate}`
    await folder.write({ crt: chained })
    await lookAfter(pollMs)

    expect(taken).to.deep.equal([pair.certificate, chained])
  })

  it('takes nothing anew where nothing changed, and says nothing about it', async () => {
    await folder.writePair(await issue())
    await watcher.start()

    await lookAfter(pollMs)
    await lookAfter(pollMs)

    expect(attempts).to.deep.equal(['loaded', 'unchanged', 'unchanged'])
    expect(log.lines).to.have.length(1)
  })

  describe('keeps the last good pair, and complains once, when', () => {
    const spoils: readonly (readonly [string, (other: KeyAndCertificate) => Promise<void>])[] = [
      ['the key belongs to another certificate', (other) => folder.write({ key: other.key })],
      ['the certificate belongs to another key', (other) => folder.write({ crt: other.certificate })],
      ['the certificate is garbage', () => folder.write({ crt: 'no certificate' })],
      ['the key is garbage', () => folder.write({ key: 'no key' })],
      ['the certificate is empty', () => folder.write({ crt: '' })],
      ['the certificate is gone', () => folder.remove('tls.crt')],
      ['the key is gone', () => folder.remove('tls.key')],
      [
        'the rest of its chain is garbage',
        async () => {
          const { cert } = watcher.current!
          await folder.write({ crt: `${cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n` })
        },
      ],
    ]
    for (const [what, spoil] of spoils) {
      it(what, async () => {
        const good = await issue()
        await folder.writePair(good)
        await watcher.start()

        await spoil(await issue())
        await lookAfter(pollMs)
        await lookAfter(pollMs)
        await lookAfter(pollMs)

        expect(watcher.current?.cert).to.equal(good.certificate)
        expect(taken).to.deep.equal([good.certificate])
        expect(new Set(attempts.slice(1))).to.deep.equal(new Set(['failed']))
        expect(log.at('warn')).to.deep.equal(['certificate cannot be loaded'])
        expect(log.lines.at(-1)?.fields).to.include({ kept: true })
      })
    }

    it('and takes the next good one', async () => {
      await folder.writePair(await issue())
      await watcher.start()
      await folder.write({ crt: 'no certificate' })
      await lookAfter(pollMs)

      const renewed = await issue()
      await folder.writePair(renewed)
      await lookAfter(pollMs)

      expect(watcher.current?.cert).to.equal(renewed.certificate)
    })
  })
})
