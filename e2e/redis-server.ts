import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from '#proxy/redis/connection/ioredis.ts'
import { findFreePort } from './demo/find-free-port.ts'

/** Whether redis-server is installed here. */
export const hasRedis: boolean = spawnSync('redis-server', ['--version']).status === 0

/** A real redis-server on a port of this machine, with its own folder. */
export interface RunningRedis {
  readonly port: number
  readonly url: string
  /** a plain client, with which the test inspects and manipulates it */
  readonly client: Redis
  signal(signal: NodeJS.Signals): void
  /** Kills it; its data is lost. */
  kill(): Promise<void>
  close(): Promise<void>
}

export interface RedisServerOptions {
  readonly port?: number
  readonly args?: readonly string[]
  /** contents of its configuration file, for modes that write to that file */
  readonly config?: string
  /** how the test's own client connects */
  readonly clientOptions?: object
}

// nothing on disk, and replication starts without waiting for more replicas
const standardArgs = '--bind 127.0.0.1 --appendonly no --repl-diskless-sync-delay 0'.split(' ').concat('--save', '')

/** Starts a redis-server that keeps nothing on disk, and waits until it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RunningRedis> {
  const { args = [], clientOptions = {} } = options
  const port = options.port ?? (await findFreePort())
  const folder = mkdtempSync(join(tmpdir(), 'reprise-redis-'))
  const plain = args.includes('--tls-port') ? [] : ['--port', String(port)]
  const file = join(folder, 'sentinel.conf')
  if (options.config !== undefined) writeFileSync(file, options.config)
  const own = options.config === undefined ? [...standardArgs, '--dir', folder] : []
  const child = spawn('redis-server', [...(options.config === undefined ? [] : [file]), ...plain, ...own, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const client = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 50, ...clientOptions })
  client.on('error', () => {})
  await waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`redis-server ended: ${output}`)
    return (await client.ping()) === 'PONG'
  })
  const kill = async (): Promise<void> => end(child)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    client,
    signal: (signal) => void child.kill(signal),
    kill,
    close: async () => {
      client.disconnect()
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until a condition holds; errors it throws until then are ignored. */
export async function waitFor(isSo: () => Promise<boolean> | boolean, milliseconds = 10_000): Promise<void> {
  const until = Date.now() + milliseconds
  let fault: unknown
  while (Date.now() < until) {
    try {
      if (await isSo()) return
    } catch (error) {
      fault = error
    }
    await pause(20)
  }
  throw new Error(`not so after ${milliseconds} ms`, { cause: fault })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
