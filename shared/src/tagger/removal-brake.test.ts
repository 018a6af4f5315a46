import { expect } from 'chai'
import { FakeClock } from '../../testing/fake-clock.ts'
import { silentLogger } from '../runtime/logger.ts'
import { RemovalBrake } from './removal-brake.ts'

function start({ disks = 100, acknowledged = [] as readonly string[] } = {}) {
  const clock = new FakeClock()
  const brake = new RemovalBrake({ clock, logger: silentLogger, acknowledged, diskCount: () => disks })
  /** How many of so many disks may lose the tag. */
  const admitted = (count: number, { key = 'team', from = 0 } = {}) =>
    Array.from({ length: count }, (_, i) => brake.admits(key, `vol-${from + i}`)).filter(Boolean).length
  return { clock, brake, admitted }
}

describe('the brake on removals', () => {
  it('lets 20 disks lose a tag, however few there are, and no more', () => {
    const { brake, admitted } = start({ disks: 30 })

    expect(admitted(30)).to.equal(20)
    expect([...brake.held]).to.deep.equal([['team', 10]])
  })

  it('lets 5 % lose it where that is more', () => {
    expect(start({ disks: 2000 }).admitted(300)).to.equal(100)
  })

  it('counts a disk once, however often it comes by', () => {
    const { brake, admitted } = start()
    admitted(20)

    expect(admitted(20)).to.equal(20)
    expect(brake.held.size).to.equal(0)
  })

  it('counts each tag for itself', () => {
    const { brake, admitted } = start()
    admitted(30)

    expect(admitted(20, { key: 'owner' })).to.equal(20)
    expect(brake.allows('owner', 'vol-1')).to.equal(true)
    expect(brake.allows('team', 'vol-1')).to.equal(false)
  })

  it('forgets after an hour what was within the limit', async () => {
    const { clock, admitted } = start()
    admitted(20)

    await clock.step(3_600_001)

    expect(admitted(20, { from: 100 })).to.equal(20)
  })

  it('stays on after an hour once it stopped something', async () => {
    const { clock, brake, admitted } = start()
    admitted(21)

    await clock.step(3_600_001)

    expect(admitted(5, { from: 100 })).to.equal(0)
    expect(brake.held.get('team')).to.equal(6)
  })

  it('stops before the first removal where it is told how many are to come', () => {
    const { brake, admitted } = start()

    brake.foresee(
      'team',
      Array.from({ length: 21 }, (_, i) => `vol-${i}`),
    )

    expect(admitted(21)).to.equal(0)
    expect(brake.held.get('team')).to.equal(21)
  })

  it('does not stop for a few that are to come', () => {
    const { brake, admitted } = start()

    brake.foresee(
      'team',
      Array.from({ length: 20 }, (_, i) => `vol-${i}`),
    )

    expect(admitted(20)).to.equal(20)
  })

  it('lets everything go on that was acknowledged', () => {
    const { brake, admitted } = start({ acknowledged: ['team'] })

    brake.foresee(
      'team',
      Array.from({ length: 100 }, (_, i) => `vol-${i}`),
    )

    expect(admitted(100)).to.equal(100)
    expect(brake.held.size).to.equal(0)
  })

  it('is off again when every disk that waited is to keep the tag after all', () => {
    const { brake } = start()
    const disks = Array.from({ length: 21 }, (_, i) => `vol-${i}`)
    brake.foresee('team', disks)

    for (const disk of disks) brake.release(disk, (key) => key === 'team')

    expect(brake.held.size).to.equal(0)
    expect(brake.admits('team', 'vol-1')).to.equal(true)
  })
})
