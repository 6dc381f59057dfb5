import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { EngineClient, EngineRequest } from '#engine-adapters/engine-client.ts'
import { ProxyError } from './errors.ts'

/** How a request ended that was sent to the engine. */
export type ForwardOutcome = 'finished' | 'client_left' | 'engine_broke_off'

/** What is told about an answer while it passes; none may throw. */
export interface ForwardObserver {
  /** before the head is written: may add headers */
  onHead(status: number, headers: IncomingHttpHeaders): Record<string, string>
  onChunk(chunk: Buffer): void
}

/** Headers that belong to one connection (RFC 9110 §7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Sends a request to the engine and its answer to the client, chunk by chunk, at the client's pace. Writes straight to
 * the Node response: web streams cost twice the CPU. A client that leaves aborts the engine's work. Rejects with
 * `engine_unreachable` while the client can still be answered.
 */
export function forward(
  engine: EngineClient,
  request: EngineRequest,
  response: ServerResponse,
  clientLeft: AbortSignal,
  observer: ForwardObserver,
): Promise<ForwardOutcome> {
  return new Promise((resolve, reject) => {
    let abort = (): void => {}
    const onClientLeft = (): void => {
      abort()
      resolve('client_left')
    }
    if (clientLeft.aborted) {
      resolve('client_left')
      return
    }
    clientLeft.addEventListener('abort', onClientLeft, { once: true })
    const settle = (outcome: ForwardOutcome): void => {
      clientLeft.removeEventListener('abort', onClientLeft)
      resolve(outcome)
    }
    engine.send(request, {
      onRequestStart: (controller) => {
        abort = () => controller.abort(new Error('the client left'))
        if (clientLeft.aborted) abort()
        response.on('drain', () => controller.resume())
      },
      onResponseStart: (_controller, status, headers) => {
        // informational: the final head follows
        if (status < 200 || response.destroyed) return
        response.writeHead(status, { ...withoutHopByHop(headers), ...observer.onHead(status, headers) })
        // what the engine sent along with its head goes out in the same write
        process.nextTick(() => {
          if (!response.writableEnded) response.flushHeaders()
        })
      },
      onResponseData: (controller, chunk) => {
        observer.onChunk(chunk)
        if (!response.write(chunk)) controller.pause()
      },
      onResponseEnd: () => {
        response.end()
        settle('finished')
      },
      onResponseError: (_controller, error) => {
        if (clientLeft.aborted) return
        if (!response.headersSent) {
          clientLeft.removeEventListener('abort', onClientLeft)
          reject(engineUnreachable(engine, error))
          return
        }
        // the client must see that the answer is not whole
        response.destroy()
        settle('engine_broke_off')
      },
    })
  })
}

function engineUnreachable(engine: EngineClient, cause: Error): ProxyError {
  const { host } = new URL(engine.url)
  return new ProxyError(
    'engine_unreachable',
    `The engine at ${host} did not answer (${cause.message}): is it running?`,
    {
      cause,
    },
  )
}

/**
 * The client's headers for the engine: all but those of the connection, the length (the body may have changed), and
 * reprise's own.
 */
export function requestHeaders(rawHeaders: readonly string[], added: Readonly<Record<string, string>>): string[] {
  const listed = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === 'connection') addListed(rawHeaders[i + 1]!, listed)
  }
  const headers: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const isOurs = name === 'host' || name === 'expect' || name.startsWith('x-reprise-')
    if (isOurs || hopByHop.has(name) || listed.has(name) || Object.hasOwn(added, name)) continue
    headers.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  }
  for (const [name, value] of Object.entries(added)) headers.push(name, value)
  return headers
}

function withoutHopByHop(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  const listed = new Set<string>()
  addListed(headers.connection ?? '', listed)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && !listed.has(name)) kept[name] = value
  }
  return kept
}

/** The headers that a Connection header declares to belong to the connection too. */
function addListed(connection: string, listed: Set<string>): void {
  for (const name of connection.split(',')) listed.add(name.trim().toLowerCase())
}
