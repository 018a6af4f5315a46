import { expect } from 'chai'
import type { DiskRef } from '../../src/claims/disk.ts'
import { apply, callOptions, changes, failureOf, type CurrentSubject } from './subject.ts'

export function describeWrites(current: CurrentSubject): void {
  describe('applyChanges', () => {
    describeSetting(current)
    describeRemoving(current)
    describeManyAtOnce(current)
    describeObserved(current)
  })
}

function describeSetting(current: CurrentSubject): void {
  it('adds and overwrites the given tags and keeps every other', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ foreign: 'keep', team: 'old' })

    await apply(current(), disk, changes({ team: 'core', cost: '42' }))

    expect(tagsOf(disk)).to.deep.equal({ foreign: 'keep', team: 'core', cost: '42' })
  })

  it('writes empty values', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ team: 'core' })

    await apply(current(), disk, changes({ team: '', other: '' }))

    expect(tagsOf(disk)).to.deep.equal({ team: '', other: '' })
  })

  it('succeeds when everything is in force already', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ team: 'core' })
    const wanted = changes({ team: 'core', added: 'now' }, { old: ['x'] })

    await apply(current(), disk, wanted)
    await apply(current(), disk, wanted)

    expect(tagsOf(disk)).to.deep.equal({ team: 'core', added: 'now' })
  })

  it('leaves the disk alone when there is nothing to change', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ team: 'core' })

    await apply(current(), disk, changes({}))

    expect(tagsOf(disk)).to.deep.equal({ team: 'core' })
  })

  for (const lane of ['fresh', 'bulk'] as const) {
    it(`writes in the ${lane} lane`, async () => {
      const { addDisk, tagsOf } = current()
      const disk = addDisk()

      await apply(current(), disk, changes({ team: 'core' }), { lane })

      expect(tagsOf(disk)).to.deep.equal({ team: 'core' })
    })
  }
}

function describeRemoving(current: CurrentSubject): void {
  it('removes a tag whose value is one of those given', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ a: 'first', b: 'second', foreign: 'keep' })

    await apply(current(), disk, changes({}, { a: ['first', 'second'], b: ['first', 'second'] }))

    expect(tagsOf(disk)).to.deep.equal({ foreign: 'keep' })
  })

  it('leaves a tag that somebody gave another value', async () => {
    const { addDisk, tagsOf, setByHand } = current()
    const disk = addDisk({ team: 'core' })
    setByHand(disk, 'team', 'finance')

    await apply(current(), disk, changes({}, { team: ['core', 'platform'] }))

    expect(tagsOf(disk)).to.deep.equal({ team: 'finance' })
  })

  it('removes an empty value only where the value is empty', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ empty: '', full: 'x' })

    await apply(current(), disk, changes({}, { empty: [''], full: [''] }))

    expect(tagsOf(disk)).to.deep.equal({ full: 'x' })
  })

  it('removes nothing under no value at all', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ team: 'core', other: '' })

    await apply(current(), disk, changes({}, { team: [], other: [] }))

    expect(tagsOf(disk)).to.deep.equal({ team: 'core', other: '' })
  })

  it('sets and removes in one go', async () => {
    const { addDisk, tagsOf } = current()
    const disk = addDisk({ old: '1', foreign: 'keep' })

    await apply(current(), disk, changes({ new: '2' }, { old: ['1'], gone: ['x'] }))

    expect(tagsOf(disk)).to.deep.equal({ new: '2', foreign: 'keep' })
  })
}

function describeManyAtOnce(current: CurrentSubject): void {
  it('gives each of many disks exactly its own change', async () => {
    const { addDisk, tagsOf } = current()
    const disks = Array.from({ length: 40 }, (_, i) => addDisk({ foreign: String(i), old: String(i % 2) }))

    await Promise.all(
      disks.map((disk, i) =>
        apply(
          current(),
          disk,
          changes({ app: `app-${i % 3}`, ...(i % 5 === 0 && { own: String(i) }) }, { old: ['0'] }),
        ),
      ),
    )

    for (const [i, disk] of disks.entries()) {
      expect(tagsOf(disk)).to.deep.equal({
        foreign: String(i),
        app: `app-${i % 3}`,
        ...(i % 2 === 1 && { old: '1' }),
        ...(i % 5 === 0 && { own: String(i) }),
      })
    }
  })

  const badDisks: readonly (readonly [string, 'not-found' | 'denied' | 'invalid', () => DiskRef])[] = [
    ['missing', 'not-found', () => current().missingDisk()],
    ['denied', 'denied', () => withCondition((disk) => current().deny(disk))],
    ['full', 'invalid', () => withCondition((disk) => current().fill(disk))],
  ]

  function withCondition(condition: (disk: DiskRef) => void): DiskRef {
    const disk = current().addDisk({ foreign: 'keep' })
    condition(disk)
    return disk
  }

  for (const [condition, kind, makeDisk] of badDisks) {
    it(`says ${kind} for a ${condition} disk, with nothing done`, async () => {
      const disk = makeDisk()
      const before = kind === 'not-found' ? undefined : current().tagsOf(disk)

      const failure = await failureOf(apply(current(), disk, changes({ team: 'core' })), kind)

      expect(failure.outcomeUnknown).to.equal(false)
      if (before !== undefined) expect(current().tagsOf(disk)).to.deep.equal(before)
    })

    it(`does not let a ${condition} disk fail the others`, async () => {
      const { addDisk, tagsOf } = current()
      const good = Array.from({ length: 6 }, () => addDisk({ foreign: 'keep' }))
      const wanted = changes({ team: 'core' })
      const sent = new Map<DiskRef, number>()
      const write = (disk: DiskRef) =>
        apply(current(), disk, wanted, {
          beforeSend: () => {
            sent.set(disk, (sent.get(disk) ?? 0) + 1)
            return Promise.resolve(Infinity)
          },
        })
      const bad = makeDisk()
      const early = good.slice(0, 3).map(write)
      const failure = failureOf(apply(current(), bad, wanted), kind)

      await Promise.all([...early, ...good.slice(3).map(write)])

      for (const disk of good) expect(tagsOf(disk)).to.deep.equal({ foreign: 'keep', team: 'core' })
      expect([...sent.values()]).to.deep.equal(good.map(() => 1))
      await failure
    })
  }
}

function describeObserved(current: CurrentSubject): void {
  it('never undoes what somebody changed after the read that it was given', async () => {
    const { provider, addDisk, tagsOf, setByHand } = current()
    const disk = addDisk({ foreign: 'before' })
    const observed = await provider.getTags(disk, callOptions())
    setByHand(disk, 'foreign', 'after')
    setByHand(disk, 'another', 'new')
    const write = provider.applyChanges(disk, changes({ team: 'core' }), observed, callOptions())

    if (provider.replacesWholeSet) {
      await failureOf(write, 'conflict')
      expect(tagsOf(disk)).to.deep.equal({ foreign: 'after', another: 'new' })
    } else {
      await write
      expect(tagsOf(disk)).to.deep.equal({ foreign: 'after', another: 'new', team: 'core' })
    }
  })
}
