import { expect } from 'chai'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { TcpBalancer } from './tcp-balancer.ts'

describe('TcpBalancer', () => {
  const servers: Server[] = []
  let balancer: TcpBalancer

  afterEach(async () => {
    await balancer.stop()
    for (const server of servers.splice(0)) server.close()
  })

  async function backend(answer: string) {
    const server = createServer((socket) => socket.end(answer))
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  }

  async function refusing() {
    const gone = await backend('')
    const server = servers.pop()
    server?.close()
    return gone
  }

  const ask = () => text(connect({ host: '127.0.0.1', port: balancer.port }))

  it('gives each connection to the next backend', async () => {
    balancer = await TcpBalancer.start([await backend('one'), await backend('two')])

    const answers = [await ask(), await ask(), await ask(), await ask()]

    expect(answers).to.deep.equal(['one', 'two', 'one', 'two'])
  })

  it('passes over a backend that refuses', async () => {
    balancer = await TcpBalancer.start([await refusing(), await backend('alive')])

    const answers = [await ask(), await ask(), await ask()]

    expect(answers).to.deep.equal(['alive', 'alive', 'alive'])
  })

  it('breaks the connection when every backend refuses', async () => {
    balancer = await TcpBalancer.start([await refusing(), await refusing()])

    const socket = connect({ host: '127.0.0.1', port: balancer.port })
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]

    expect(error.code).to.equal('ECONNRESET')
  })

  it('uses new backends for new connections', async () => {
    balancer = await TcpBalancer.start([await backend('old')])
    await ask()

    balancer.setBackends([await backend('new')])

    expect(await ask()).to.equal('new')
  })
})
