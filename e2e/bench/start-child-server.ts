import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A server in a separate process. */
export interface ChildServer {
  readonly url: string
  /** the control plane's URL, if the server is a proxy */
  readonly adminUrl: string | undefined
  readonly pid: number
  /** Sends a message to what was loaded into it, and returns the answer. */
  ask<Answer>(): Promise<Answer>
  stop(): void
}

/** How a server is started. */
export interface ChildOptions {
  /** discard what it writes to stderr, such as its log */
  readonly isQuiet?: boolean
  /** a module that is loaded before its own code, and answers messages */
  readonly preload?: string | undefined
  /** where it is started; this checkout if undefined */
  readonly folder?: string
}

/** Starts `node …args` and waits for the line that says where it listens. It is killed when this process exits. */
export async function startChildServer(
  args: readonly string[],
  { isQuiet = false, preload, folder }: ChildOptions = {},
): Promise<ChildServer> {
  const child = spawn(process.execPath, [...(preload ? ['--import', preload] : []), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit', ...(preload ? ['ipc' as const] : [])],
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
  const ask = async <Answer>(): Promise<Answer> => {
    const answer = once(child, 'message')
    child.send({})
    return ((await answer) as [Answer])[0]
  }
  return { url, adminUrl, pid: child.pid!, ask, stop }
}
