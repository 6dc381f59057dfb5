import type { Readable } from 'node:stream'
import { buildConnector, type Dispatcher, Pool } from 'undici'

/** A request for the engine. */
export interface EngineRequest {
  /** path and query as the client wrote them */
  readonly path: string
  readonly method: string
  /** names and values in turn */
  readonly headers: string[]
  readonly body: Buffer | Readable | null
  /** the protocol to go on in, if the engine agrees */
  readonly upgrade?: string | null
}

/** The connections to one engine. */
export interface EngineClient {
  readonly url: string
  send(request: EngineRequest, handler: Dispatcher.DispatchHandler): void
  /** New connections show and trust these certificates; those that are open stay. */
  setTls(tls: EngineTls | undefined): void
  close(): Promise<void>
}

/** How an engine behind https is recognised, and what is shown to it; certificates are in PEM. */
export interface EngineTls {
  /** whom to trust, instead of the system's authorities */
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  /** the name that the engine's certificate has to bear */
  readonly serverName?: string
}

/** What Node takes of a head unless it is told otherwise, 16 KiB, is less than what cookies and tokens come to. */
export const largestHead: number = 64 * 1024

/**
 * Opens a pool of connections to an engine. No timeouts but for connecting: how long a prefill or a pause between
 * tokens may take is not ours to say.
 */
export function createEngineClient(url: string, tls?: EngineTls): EngineClient {
  const { origin, pathname } = new URL(url)
  const prefix = pathname.replace(/\/+$/, '').replace(/\/v1$/, '')
  let connect = createConnector(tls)
  const pool = new Pool(origin, {
    pipelining: 1,
    maxHeaderSize: largestHead,
    // vLLM's server closes idle connections after 5 s; far enough below them for a process that is held up for a second
    keepAliveTimeout: 2_000,
    keepAliveMaxTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) => connect(options, callback),
  })
  return {
    url,
    send: ({ path, method, headers, body, upgrade = null }, handler) => {
      pool.dispatch({ path: prefix + path, method, headers, body, upgrade }, handler)
    },
    // the sessions of those before go with their connector: a session that is resumed shows no certificate
    setTls: (renewed) => {
      connect = createConnector(renewed)
    },
    close: () => pool.destroy(),
  }
}

function createConnector({ serverName, ...pem }: EngineTls = {}): buildConnector.connector {
  return buildConnector({ timeout: 5_000, ...pem, ...(serverName === undefined ? {} : { servername: serverName }) })
}
