import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ownEnvironment } from './own-environment.ts'

const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')

/** `bin/reprise serve` in a separate process. */
export interface RunningReprise {
  readonly child: ChildProcess
  readonly url: string
  readonly adminUrl: string
  /** its stderr output so far; empty if stderr goes to a file */
  readonly stderr: string
  /** its exit code; null if a signal ended it */
  readonly exited: Promise<number | null>
}

/** Starts `reprise serve …args` on free ports of this machine and waits until it listens. */
export async function startReprise(
  args: readonly string[],
  options: { nodeOptions?: string; stderrPath?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<RunningReprise> {
  const stderrFile = options.stderrPath === undefined ? undefined : openSync(options.stderrPath, 'w')
  const free = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const child = spawn(process.execPath, [reprise, 'serve', ...free, ...args], {
    stdio: ['ignore', 'pipe', stderrFile ?? 'pipe'],
    env: { ...ownEnvironment, NODE_OPTIONS: options.nodeOptions ?? '', ...options.env },
  })
  if (stderrFile !== undefined) closeSync(stderrFile)
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const line = await Promise.race([
    once(createInterface(child.stdout!), 'line').then(([text]) => text as string),
    exited.then((code) => Promise.reject(new Error(`reprise serve ended with ${code}: ${stderr}`))),
  ])
  const { url, admin_url: adminUrl } = JSON.parse(line) as { url: string; admin_url: string }
  return {
    child,
    url,
    adminUrl,
    get stderr() {
      return stderr
    },
    exited,
  }
}

/** Returns the peak resident memory of a process, in bytes; works only on Linux. */
export function peakMemory(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kilobytes) * 1024
}
