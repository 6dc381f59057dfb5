import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * Stands in for an engine that takes no time, in a process of its own: what is measured in front of it is the proxy.
 * `POST` is answered at once; with `"stream":true` in the body by 1,000 events, one write each.
 */

const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}'
const events = 1000
const event = `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" word"}}]}\n\n`

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    if (!chunks.at(-1)?.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"choices":[],${usage}}`)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let left = events
    const writeNext = (): void => {
      if (left-- > 0) {
        response.write(event)
        setImmediate(writeNext)
      } else response.end('data: [DONE]\n\n')
    }
    writeNext()
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${port}` })}\n`)
})
