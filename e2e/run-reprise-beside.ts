import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')

/** Runs a command to its end without blocking this process, for commands that connect to it. */
export async function startRunningReprise(
  args: readonly string[],
  input = '',
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [reprise, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (written[name] += chunk))
  child.stdin.end(input)
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, ...written }
}
