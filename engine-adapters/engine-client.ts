import type { Readable } from 'node:stream'
import type { buildConnector as ConnectorBuilder, Dispatcher } from 'undici'
// the package's own entry loads all of it: 75 ms and 7 MB
import buildConnector from 'undici/lib/core/connect.js'
import Pool from 'undici/lib/dispatcher/pool.js'

/** A request for the engine. */
export interface EngineRequest {
  /** path and query as the client sent them */
  readonly path: string
  readonly method: string
  /** names and values, alternating */
  readonly headers: string[]
  readonly body: Buffer | Readable | null
  /** the protocol to switch to, if the engine agrees */
  readonly upgrade?: string | null
}

/** The connections to one engine. */
export interface EngineClient {
  readonly url: string
  send(request: EngineRequest, handler: Dispatcher.DispatchHandler): void
  /** for questions of ours that may be broken off: on a connection that no client's request uses */
  readonly aside: Pick<EngineClient, 'send'>
  /** New connections present and trust these certificates; open connections stay. */
  setTls(tls: EngineTls | undefined): void
  close(): Promise<void>
}

/** How an https engine is authenticated, and which certificate we present; certificates are in PEM. */
export interface EngineTls {
  /** the authorities to trust, instead of the system's */
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  /** the name that the engine's certificate must have */
  readonly serverName?: string
}

/** Node's default limit for heads, 16 KiB, is too small for some cookies and tokens. */
export const largestHead: number = 64 * 1024

/**
 * Opens a pool of connections to an engine. Only connecting has a timeout: how long a prefill or a pause between
 * tokens may take is not for us to decide.
 */
export function createEngineClient(url: string, tls?: EngineTls): EngineClient {
  const { origin } = new URL(url)
  const prefix = pathPrefixOf(new URL(url))
  let connect = createConnector(tls)
  const options: Pool.Options = {
    pipelining: 1,
    maxHeaderSize: largestHead,
    // vLLM's server closes idle connections after 5 s; these stay below that even if the process stalls for a second
    keepAliveTimeout: 2_000,
    keepAliveMaxTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (wanted, callback) => connect(wanted, callback),
  }
  const pool = new Pool(origin, options)
  const aside = new Pool(origin, { ...options, connections: 1 })
  const sendOn =
    (connections: Pool): EngineClient['send'] =>
    ({ path, method, headers, body, upgrade = null }, handler) => {
      connections.dispatch({ path: prefix + path, method, headers, body, upgrade }, handler)
    }
  return {
    url,
    send: sendOn(pool),
    aside: { send: sendOn(aside) },
    // a new connector also drops the old TLS sessions: a resumed session presents no certificate
    setTls: (renewed) => {
      connect = createConnector(renewed)
    },
    close: async () => {
      await Promise.all([pool.destroy(), aside.destroy()])
    },
  }
}

/** Returns what an engine's URL puts in front of the paths that clients ask for. */
export function pathPrefixOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '').replace(/\/v1$/, '')
}

function createConnector({ serverName, ...pem }: EngineTls = {}): ConnectorBuilder.connector {
  return buildConnector({ timeout: 5_000, ...pem, ...(serverName === undefined ? {} : { servername: serverName }) })
}
