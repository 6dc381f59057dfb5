import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ownEnvironment } from './own-environment.ts'

const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')

/** A running command of `bin/reprise`. */
export interface RunningReprise {
  readonly child: ChildProcess
  /** the line it prints when it starts listening */
  readonly listening: Record<string, string>
  stderr(): string
}

/** Returns the complete lines of its log that have this message. */
export function logLines({ stderr }: RunningReprise, message: string): Record<string, unknown>[] {
  const complete = stderr().split('\n').slice(0, -1)
  return complete.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === message)
}

/** Writes a configuration file that listens on free ports of this machine. Returns its path. */
export function writeSettings(folder: string, settings: object): string {
  const file = join(folder, 'reprise.json')
  writeFileSync(file, JSON.stringify({ listen: '127.0.0.1:0', admin: { listen: '127.0.0.1:0' }, ...settings }))
  return file
}

/** Starts commands of `bin/reprise`; `stopAll` ends them. */
export class Reprises {
  readonly #started: ChildProcess[] = []

  /** Starts a command and waits until it listens. */
  async start(args: readonly string[], environment: Record<string, string> = {}): Promise<RunningReprise> {
    const env = { ...ownEnvironment, ...environment }
    const child = spawn(process.execPath, [reprise, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
    this.#started.push(child)
    let stderr = ''
    child.stderr!.on('data', (chunk) => {
      stderr += chunk
    })
    const listening = once(createInterface(child.stdout!), 'line')
    const [line] = await Promise.race([
      listening,
      once(child, 'exit').then(([code]) => {
        throw new Error(`reprise ended with ${code} before it listened: ${stderr}`)
      }),
    ])
    return { child, listening: JSON.parse(line as string), stderr: () => stderr }
  }

  /** Sends a signal to every command that was started, also to one that does not listen yet. */
  signalAll(signal: NodeJS.Signals): void {
    for (const child of this.#started) child.kill(signal)
  }

  stopAll(): void {
    for (const child of this.#started.splice(0)) child.kill('SIGKILL')
  }
}

/** Runs a command to its end. `stdout`: a file descriptor, instead of a pipe. */
export function runReprise(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string; stdout?: number } = {},
): { status: number | null; stdout: string; stderr: string } {
  const { input = '', stdout = 'pipe' } = options
  const env = { ...ownEnvironment, ...options.env }
  return spawnSync(process.execPath, [reprise, ...args], {
    encoding: 'utf8',
    input,
    env,
    stdio: ['pipe', stdout, 'pipe'],
  })
}
