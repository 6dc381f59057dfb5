import { Children } from './children.ts'
import { DemoError } from './demo-error.ts'

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

/** The context passed to a command's body. */
export interface CommandRun {
  readonly children: Children
  /** Aborts when the command is interrupted; the body should then stop. */
  readonly interrupted: AbortSignal
}

/** Runs a command's body. When it returns, throws or a signal arrives, stops its processes and sets the exit code. */
export async function runCommand(name: string, body: (run: CommandRun) => Promise<number>): Promise<void> {
  const children = new Children()
  const interruption = new AbortController()
  for (const [signal, code] of SIGNALS) {
    process.once(signal, () => {
      interruption.abort()
      void children.stopAll().finally(() => process.exit(code))
    })
  }
  process.once('exit', () => children.killAll())
  try {
    process.exitCode = await body({ children, interrupted: interruption.signal })
  } catch (error) {
    // after an interruption, failed requests need no explanation
    if (interruption.signal.aborted) return
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = error instanceof DemoError ? error.exitCode : 1
  } finally {
    await children.stopAll()
  }
}
