// The least that a Node.js server can do with an AdmissionReview: read it, parse it, answer. A process of its own:
//
//   node e2e/bench/load/bare-server.ts <folder with tls.crt and tls.key>
//
// Prints its port when it listens, and ends on SIGTERM.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

const [folder = '.'] = process.argv.slice(2)
const tls = {
  cert: readFileSync(path.join(folder, 'tls.crt')),
  key: readFileSync(path.join(folder, 'tls.key')),
}

const server = createServer(tls, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { request: { uid: string } }
    const answer = JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: review.request.uid, allowed: true },
    })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.once('SIGTERM', () => process.exit(0))
