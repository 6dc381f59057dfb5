import { setMaxListeners } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { EngineError, type EngineKind, invalidBody, toErrorBody } from './engine-error.ts'

/** A request as a route sees it. */
export interface Call {
  headers: IncomingHttpHeaders
  /** The parsed JSON body; undefined for GET. */
  body: unknown
  response: ServerResponse
  /** Aborts when the client leaves before its answer is complete. */
  signal: AbortSignal
}

type Route = (call: Call) => void | Promise<void>

/** Routes by `METHOD /path`. */
export type Routes = ReadonlyMap<string, Route>

const defaultBodyBytes = 32 * 1024 * 1024

/** Creates a server for `routes`. It answers every fault in the engine's format and never throws. */
export function createHttpServer(kind: EngineKind, routes: Routes, bodyBytes: number = defaultBodyBytes): Server {
  return createServer((request, response) => {
    void serve({ kind, routes, bodyBytes }, request, response)
  })
}

/** Answers with JSON, or with an empty 200. */
export function sendJson(response: ServerResponse, body?: unknown, status = 200): void {
  if (body === undefined) {
    response.writeHead(status).end()
    return
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function serve(
  { kind, routes, bodyBytes }: { kind: EngineKind; routes: Routes; bodyBytes: number },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?', 1)[0]!
  const left = new AbortController()
  // many prompts of one request listen to both
  setMaxListeners(0, left.signal, response)
  response.on('close', () => {
    if (!response.writableFinished) left.abort()
  })
  try {
    const route = findRoute(routes, request.method ?? 'GET', path)
    const body = request.method === 'POST' ? await readBody(request, bodyBytes) : undefined
    await route({ headers: request.headers, body, response, signal: left.signal })
  } catch (cause) {
    if (!left.signal.aborted) sendError(kind, path, toEngineError(cause), response)
  }
}

function findRoute(routes: Routes, method: string, path: string): Route {
  const route = routes.get(`${method} ${path}`)
  if (route) return route
  if (routes.has(`GET ${path}`) || routes.has(`POST ${path}`)) {
    throw new EngineError(405, 'Method Not Allowed', 'Method Not Allowed')
  }
  throw new EngineError(404, 'Not Found', 'Not Found')
}

async function readBody(request: IncomingMessage, longest: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  // leaving the loop must not destroy the request: that would close the connection before the refusal is sent
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > longest) {
      throw new EngineError(413, 'Request Entity Too Large', `The body is larger than ${longest >> 20} MiB.`)
    }
    chunks.push(chunk)
  }
  if (bytes === 0) return undefined
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw invalidBody(`The body is not valid JSON: ${(cause as Error).message}`)
  }
}

function toEngineError(cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause
  // JSON.stringify recurses: a document nested deeper than the stack is the client's fault
  if (cause instanceof RangeError) return invalidBody('The body is nested too deeply.')
  return new EngineError(500, 'InternalServerError', cause instanceof Error ? cause.message : 'Internal Server Error')
}

function sendError(kind: EngineKind, path: string, error: EngineError, response: ServerResponse): void {
  const body = toErrorBody(kind, path, error)
  if (response.headersSent) {
    response.end(`data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`)
    return
  }
  // the rest of an over-long body is not read, so the connection cannot be used again
  if (error.status === 413) response.setHeader('connection', 'close')
  sendJson(response, body, error.status)
}
