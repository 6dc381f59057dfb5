import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const watchTurns = join(import.meta.dirname, 'watch-turns.mjs')

/** A server in a separate process. */
export interface ChildServer {
  readonly url: string
  /** the control plane's URL, if the server is a proxy */
  readonly adminUrl: string | undefined
  readonly pid: number
  /** for a watched server: the longest turn of its event loop since the last call, in milliseconds of CPU time */
  longestTurn(): Promise<number | undefined>
  stop(): void
}

/** How a server is started. */
export interface ChildOptions {
  /** discard what it writes to stderr, such as its log */
  readonly isQuiet?: boolean
  readonly isWatched?: boolean
  /** where it is started; this checkout if undefined */
  readonly folder?: string
}

/** Starts `node …args` and waits for the line that says where it listens. It is killed when this process exits. */
export async function startChildServer(
  args: readonly string[],
  { isQuiet = false, isWatched = false, folder }: ChildOptions = {},
): Promise<ChildServer> {
  const child = spawn(process.execPath, [...(isWatched ? ['--import', watchTurns] : []), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit', ...(isWatched ? ['ipc' as const] : [])],
  })
  const stop = (): void => {
    child.kill('SIGKILL')
  }
  process.on('exit', stop)
  const [line] = await Promise.race([
    once(createInterface(child.stdout!), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${args.join(' ')} did not start`))),
  ])
  const { url, admin_url: adminUrl } = JSON.parse(line as string) as { url: string; admin_url?: string }
  const longestTurn = async (): Promise<number | undefined> => {
    const answer = once(child, 'message')
    child.send({})
    const [{ longest }] = (await answer) as [{ longest?: number }]
    return longest
  }
  return { url, adminUrl, pid: child.pid!, longestTurn, stop }
}
