import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * Stands in for an engine that takes no time, in a process of its own: what is measured in front of it is the proxy.
 * `POST` is answered at once; with a header `x-bench-events: N` by a stream of so many events, one write each, with
 * `x-bench-interval: MS` in between. `x-bench-prompt-tokens: N`: how many tokens it says the prompt had.
 */

const usageOf = (prompt: number): string =>
  `"usage":{"prompt_tokens":${prompt},"completion_tokens":1,"total_tokens":${prompt + 1}}`
const event = `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" word"}}]}\n\n`
const last = 'data: [DONE]\n\n'

function stream(response: ServerResponse, events: number, interval: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  // the last one is [DONE]
  let left = events - 1
  const writeNext = (): void => {
    if (response.destroyed) return
    if (left-- <= 0) {
      response.end(last)
      return
    }
    // as an engine would: no faster than it is read
    const isTaken = response.write(event)
    if (!isTaken) response.once('drain', writeNext)
    else if (interval === 0) setImmediate(writeNext)
    else setTimeout(writeNext, interval)
  }
  // streams that begin together do not write together for ever
  setTimeout(writeNext, Math.random() * interval)
}

const server = createServer((incoming, response) => {
  incoming.resume()
  incoming.on('end', () => {
    const promptTokens = Number(incoming.headers['x-bench-prompt-tokens'] ?? 1)
    const events = Number(incoming.headers['x-bench-events'] ?? 0)
    if (events > 0) stream(response, events, Number(incoming.headers['x-bench-interval'] ?? 0))
    else response.writeHead(200, { 'content-type': 'application/json' }).end(`{"choices":[],${usageOf(promptTokens)}}`)
  })
})
server.keepAliveTimeout = 600_000
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${port}` })}\n`)
})
