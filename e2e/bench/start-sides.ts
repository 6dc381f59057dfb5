import { Pool } from 'undici'
import { report } from './print-table.ts'
import { type ChildOptions, type ChildServer, startChildServer } from './start-child-server.ts'
import { startNginx } from './start-nginx.ts'

/** One path to the engine. */
export interface Side {
  readonly name: string
  /** the proxy process; undefined for the direct path */
  readonly pid: number | undefined
  readonly pool: Pool
  /** Asks the module that was loaded into the proxy. */
  readonly ask: ChildServer['ask']
}

/** The same instant engine, reached directly, through nginx, through a minimal proxy in Node, and through reprise. */
export interface Sides {
  readonly enginePid: number
  readonly direct: Side
  /** reprise comes last; nginx is left out if it is not installed */
  readonly proxies: readonly Side[]
  stop(): Promise<void>
}

/** Starts the engine and all proxies, each in a separate process. */
export async function startSides(): Promise<Sides> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const nginx = await startNginx(engine.url)
  if (!nginx) report('  without nginx: it is not installed (nginx-light is enough)')
  const node = await startChildServer(['--import', 'tsx', 'e2e/bench/plain-node-proxy.ts', engine.url])
  const reprise = await startReprise(engine.url)
  return toSides(engine, { ...(nginx && { nginx }), node, reprise })
}

function toSides(engine: ChildServer, proxies: Readonly<Record<string, ChildServer>>): Sides {
  const toSide = (name: string, { url, pid, ask }: ChildServer): Side => ({ name, pid, ask, pool: new Pool(url) })
  const direct = { ...toSide('direct', engine), pid: undefined }
  const sides = Object.entries(proxies).map(([name, server]) => toSide(name, server))
  return {
    enginePid: engine.pid,
    direct,
    proxies: sides,
    stop: async () => {
      await Promise.all([direct, ...sides].map(({ pool }) => pool.destroy()))
      for (const server of [engine, ...Object.values(proxies)]) server.stop()
    },
  }
}

/** The engine reached directly, through the `reprise` of another commit, checked out in `folder`, and through this one. */
export async function startSidesAgainst(commit: string, folder: string, options: ChildOptions = {}): Promise<Sides> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const before = await startReprise(engine.url, { ...options, folder })
  const now = await startReprise(engine.url, options)
  return toSides(engine, { [commit]: before, now })
}

/** Starts `reprise serve` in front of an engine with default settings, so it logs each request. */
export function startReprise(engineUrl: string, options: ChildOptions = {}): Promise<ChildServer> {
  const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  return startChildServer(['bin/reprise', 'serve', ...listen, '--mode', 'on', '--engine', `${engineUrl},kind=vllm`], {
    isQuiet: true,
    ...options,
  })
}
