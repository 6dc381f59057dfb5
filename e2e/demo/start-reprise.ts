import { fileURLToPath } from 'node:url'
import type { Child, Children } from './children.ts'
import { DemoError } from './demo-error.ts'

const REPRISE = fileURLToPath(new URL('../../bin/reprise', import.meta.url))

export interface EmulatorOptions {
  /** Infinite for a cache that never evicts. */
  readonly capacityTokens: number
  readonly prefillTokensPerSecond: number
  /** The URL that evictions are reported to. */
  readonly callback: string | undefined
}

export interface ProxyOptions {
  readonly engineUrl: string
  /** The engine's name in the proxy's control plane. */
  readonly replica: string
  readonly adminPort: number
}

/** A running server that this process started. */
export interface Server {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Starts a fresh, empty engine emulator on a free port. */
export function startEmulator(children: Children, options: EmulatorOptions): Promise<Server> {
  const { capacityTokens, prefillTokensPerSecond, callback } = options
  const args = ['--listen', '127.0.0.1:0', '--prefill-tokens-per-second', String(prefillTokensPerSecond)]
  args.push('--capacity-tokens', Number.isFinite(capacityTokens) ? String(capacityTokens) : 'unlimited')
  if (callback !== undefined) args.push('--callback', callback)
  return start(children, 'emulate', args)
}

/** Starts the proxy in front of one engine on a free port. */
export function startProxy(children: Children, options: ProxyOptions): Promise<Server> {
  const engine = `${options.engineUrl},kind=vllm,id=${options.replica}`
  const admin = `127.0.0.1:${options.adminPort}`
  return start(children, 'serve', [
    '--listen',
    '127.0.0.1:0',
    '--admin-listen',
    admin,
    '--engine',
    engine,
    '--mode',
    'on',
  ])
}

async function start(children: Children, command: string, args: readonly string[]): Promise<Server> {
  const child = children.start(process.execPath, [REPRISE, command, ...args])
  return { url: await readUrl(child, command), stop: child.stop }
}

async function readUrl(child: Child, command: string): Promise<string> {
  const listening = new Promise<string>((resolve) => {
    child.stdout.on('line', (line) => {
      const url = line.startsWith('{') ? (JSON.parse(line) as { event?: string; url?: string }) : {}
      if (url.event === 'listening' && url.url !== undefined) resolve(url.url)
    })
  })
  const ended = child.ended.then(() => {
    throw new DemoError(`reprise ${command} ended before it listened: ${child.tail().trim() || 'no message'}`)
  })
  return await Promise.race([listening, ended])
}
