import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A server in a process of its own. */
export interface ChildServer {
  readonly url: string
  /** where the control plane is, of a proxy */
  readonly adminUrl: string | undefined
  readonly pid: number
  stop(): void
}

/**
 * Starts `node …args` and waits for the line that says where it listens; it ends with this process. With `isQuiet` what
 * it writes to stderr, such as its log, is thrown away.
 */
export async function startChildServer(args: readonly string[], isQuiet = false): Promise<ChildServer> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit'] })
  const stop = (): void => {
    child.kill('SIGKILL')
  }
  process.on('exit', stop)
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${args.join(' ')} did not start`))),
  ])
  const { url, admin_url: adminUrl } = JSON.parse(line as string) as { url: string; admin_url?: string }
  return { url, adminUrl, pid: child.pid!, stop }
}
