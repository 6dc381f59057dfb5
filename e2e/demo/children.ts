import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { DemoError } from './demo-error.ts'

const TAIL_LINES = 15
const GRACE_MS = 10_000

/** A child process of the demo, with everything it starts in turn. */
export interface Child {
  readonly stdout: Interface
  /** The last lines it wrote, for an error message. */
  readonly tail: () => string
  /** Resolves when the process has exited; rejects if it could not be started. */
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

/** The demo's child processes; whatever ends the demo ends them too. */
export class Children {
  readonly #running = new Set<ChildProcess>()

  start(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Child {
    // its own process group, so that an engine's workers are killed with it
    const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = this.#watch(child)
    const stdout = createInterface(child.stdout)
    const lines: string[] = []
    const keep = (line: string): void => {
      lines.push(line)
      if (lines.length > TAIL_LINES) lines.shift()
    }
    stdout.on('line', keep)
    createInterface(child.stderr).on('line', keep)
    return { stdout, tail: () => lines.join('\n'), ended, stop: () => stopGroup(child, ended) }
  }

  /** Runs a command to its end with all its output on our stderr. Throws if it fails. */
  async run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<void> {
    const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 2, 2] })
    await this.#watch(child).catch((cause: Error) => {
      throw new DemoError(`cannot run ${command}: ${cause.message}`)
    })
    if (child.exitCode !== 0) throw new DemoError(`failed: ${[command, ...args].join(' ')}`)
  }

  #watch(child: ChildProcess): Promise<void> {
    this.#running.add(child)
    const ended = waitForEnd(child).finally(() => this.#running.delete(child))
    // avoids an unhandled rejection: those who await `ended` see the failure, but there may be none yet
    ended.catch(() => undefined)
    return ended
  }

  /** Asks all processes to end and waits. One that does not end, such as vLLM while loading, is killed. */
  async stopAll(): Promise<void> {
    const stopped = [...this.#running].map((child) => stopGroup(child, waitForEnd(child)))
    await Promise.allSettled(stopped)
  }

  /** Kills all at once: for this process's exit, when it can no longer wait for anything. */
  killAll(): void {
    for (const child of this.#running) signalGroup(child, 'SIGKILL')
  }
}

async function waitForEnd(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function stopGroup(child: ChildProcess, ended: Promise<void>): Promise<void> {
  // only the first process: vLLM frees its shared memory if it ends its workers itself
  child.kill('SIGTERM')
  const impatience = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS)
  await ended.finally(() => clearTimeout(impatience))
  // any process left in the group was forgotten or is about to end
  signalGroup(child, 'SIGTERM')
}

function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // the group has already exited
  }
}
