import { Children } from './children.ts'
import { DemoError } from './demo-error.ts'

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

/** Runs a command's body; on its end, an error or a signal its processes are stopped and the exit code is set. */
export async function runCommand(name: string, body: (children: Children) => Promise<number>): Promise<void> {
  const children = new Children()
  for (const [signal, code] of SIGNALS) {
    process.once(signal, () => void children.stopAll().finally(() => process.exit(code)))
  }
  process.once('exit', () => children.killAll())
  try {
    process.exitCode = await body(children)
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = error instanceof DemoError ? error.exitCode : 1
  } finally {
    await children.stopAll()
  }
}
