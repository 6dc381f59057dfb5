import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * Stands in for an engine that takes no time, in a separate process, so that only the proxy in front of it is measured.
 * Answers `POST` at once. The header `x-bench-events: N` requests a stream of N events, one write each, with
 * `x-bench-interval: MS` between them. `x-bench-prompt-tokens: N` sets the number of prompt tokens it reports.
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
    // like an engine, writes no faster than the reader reads
    const isTaken = response.write(event)
    if (!isTaken) response.once('drain', writeNext)
    else if (interval === 0) setImmediate(writeNext)
    else setTimeout(writeNext, interval)
  }
  // spreads out streams that begin together, so that they do not keep writing at the same moments
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
