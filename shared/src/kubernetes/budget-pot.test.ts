import { expect } from 'chai'
import { FakeClock } from '../../testing/fake-clock.ts'
import { EmbeddedKubernetes } from '../../testing/kubernetes/embedded-kubernetes.ts'
import { silentLogger } from '../runtime/logger.ts'
import { BudgetPot } from './budget-pot.ts'
import { ClusterConnection } from './connection.ts'
import { kubeconfigText } from './credentials.ts'

const rates = { CreateTags: { burst: 40, perSecond: 4 }, DeleteTags: { burst: 8, perSecond: 1 } }

describe('BudgetPot', () => {
  let server: EmbeddedKubernetes
  let clock: FakeClock
  const connections: ClusterConnection[] = []

  beforeEach(async () => {
    server = await EmbeddedKubernetes.start()
    clock = new FakeClock()
  })

  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.close()))
    await server.stop()
  })

  /** As another process of the installation would have it. */
  function pot(user = 'admin', namespace = 'default'): BudgetPot {
    const load = kubeconfigText(server.kubeconfigText(user))
    const connection = new ClusterConnection({ load, version: 'test', clock, logger: silentLogger })
    connections.push(connection)
    const { signal } = new AbortController()
    return new BudgetPot({ transport: connection, namespace, clock, logger: silentLogger, signal, rates })
  }

  it('gives all processes together what it holds, and no more', async () => {
    const [one, other] = [pot(), pot()]

    const drawn = [
      await one.draw('CreateTags', 30, 'fresh'),
      await other.draw('CreateTags', 30, 'fresh'),
      await one.draw('CreateTags', 30, 'fresh'),
    ]

    expect(drawn).to.deep.equal([30, 10, 0])
  })

  it('fills again at its rate, and no higher than full', async () => {
    const one = pot()
    await one.draw('CreateTags', 40, 'fresh')

    await clock.step(2500)
    expect(await one.draw('CreateTags', 40, 'fresh')).to.equal(10)
    await clock.step(3_600_000)
    expect(await one.draw('CreateTags', 100, 'fresh')).to.equal(40)
  })

  it('keeps each operation apart', async () => {
    const one = pot()
    await one.draw('CreateTags', 40, 'fresh')

    expect(await one.draw('DeleteTags', 5, 'fresh')).to.equal(5)
  })

  it('leaves a quarter to fresh changes', async () => {
    const one = pot()

    expect(await one.draw('CreateTags', 100, 'bulk')).to.equal(30)
    expect(await one.draw('CreateTags', 100, 'fresh')).to.equal(10)
  })

  it('never gives a call twice, however many draw at once', async () => {
    const pots = [pot(), pot(), pot()]

    const drawn = await Promise.all(
      Array.from({ length: 12 }, (_, i) => pots[i % 3]?.draw('CreateTags', 7, 'fresh') ?? Promise.resolve(0)),
    )

    expect(drawn.reduce<number>((sum, count) => sum + (count ?? 0), 0)).to.be.within(1, 40)
  })

  it('says once and for all that there is none where it has no right to it', async () => {
    server.users.add({ name: 'stranger', rules: [] })
    const none = pot('stranger')

    expect(await none.draw('CreateTags', 5, 'fresh')).to.equal(undefined)
    const asked = server.log.count({ user: 'stranger' })
    expect(await none.draw('CreateTags', 5, 'fresh')).to.equal(undefined)
    expect(server.log.count({ user: 'stranger' })).to.equal(asked)
  })

  it('says so, too, where its namespace does not exist', async () => {
    expect(await pot('admin', 'nowhere').draw('CreateTags', 5, 'fresh')).to.equal(undefined)
  })

  it('gives nothing while it cannot be reached, and something again afterwards', async () => {
    const one = pot()
    server.failNext(1, () => true, { kind: 'status', code: 500 })

    expect(await one.draw('CreateTags', 5, 'fresh')).to.equal(0)
    expect(await one.draw('CreateTags', 5, 'fresh')).to.equal(5)
  })
})
