import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'undici'
import type { Container, Probe, Variable } from './pod-spec.ts'

/** Stands in for an image: how to start its processes on this machine. */
export interface ImageDouble {
  /** the image's entrypoint, used if the container has no `command` */
  readonly entrypoint: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** folders of the image, and their paths on this machine */
  readonly folders?: Readonly<Record<string, string>>
}

export interface ContainerOptions {
  readonly image: ImageDouble
  /** folders on this machine, by mount path */
  readonly mounts: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** the pod's address, which HTTP probes use */
  readonly address: string
  readonly workingFolder: string
}

const shownLogCharacters = 4_000

/** Processes to kill when this one exits. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL')
})

/** Stands in for a container: a process on this machine with the container's command, arguments and environment. */
export class ContainerDouble {
  readonly spec: Container
  readonly #options: ContainerOptions
  #child: ChildProcess | undefined
  #log = ''
  #exited: Promise<number | string> = Promise.resolve(0)
  /** number of times it was started */
  starts = 0

  constructor(spec: Container, options: ContainerOptions) {
    this.spec = spec
    this.#options = options
  }

  /** Its output since the first start. */
  get log(): string {
    return this.#log
  }

  get tail(): string {
    return `${this.spec.name}:\n${this.#log.slice(-shownLogCharacters)}`
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Its exit code, or the signal that ended it. */
  get exited(): Promise<number | string> {
    return this.#exited
  }

  /** Starts its process. */
  start(): void {
    const { command = this.#options.image.entrypoint, args = [] } = this.spec
    this.starts += 1
    const child = this.#spawn([...command, ...args])
    this.#child = child
    this.#exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
  }

  /** Runs a command in it. Returns the exit code; undefined if it took too long. */
  async exec(command: readonly string[], timeoutSeconds: number): Promise<number | undefined> {
    const child = this.#spawn(command)
    const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), timeoutSeconds * 1000)
    const [code] = (await once(child, 'exit')) as [number | null]
    clearTimeout(timer)
    return code ?? undefined
  }

  /** Runs a probe. Returns whether it succeeds. */
  async probe({ httpGet, exec, timeoutSeconds }: Probe): Promise<boolean> {
    if (exec) return (await this.exec(exec.command, timeoutSeconds)) === 0
    const port = this.spec.ports?.find(({ name }) => name === httpGet!.port)?.containerPort
    const url = `http://${this.#options.address}:${port}${httpGet!.path}`
    const timeouts = { headersTimeout: timeoutSeconds * 1000, bodyTimeout: timeoutSeconds * 1000, reset: true }
    const response = await request(url, timeouts).catch(() => undefined)
    await response?.body.dump().catch(() => {})
    return response !== undefined && response.statusCode >= 200 && response.statusCode < 400
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL' && this.#child) signalGroup(this.#child, signal)
    else this.#child?.kill(signal)
  }

  /** Stops it as the container runtime does: SIGTERM, then SIGKILL after `graceSeconds`. */
  async stop(graceSeconds: number): Promise<number | string> {
    if (!this.isRunning) return this.#exited
    this.signal('SIGTERM')
    const impatience = setTimeout(() => this.signal('SIGKILL'), graceSeconds * 1000)
    const code = await this.#exited
    clearTimeout(impatience)
    // kills the processes it has started, too
    this.signal('SIGKILL')
    return code
  }

  #spawn(command: readonly string[]): ChildProcess {
    const [file, ...args] = command.map((word) => this.#place(word))
    // of this process's own environment, passes on only PATH
    const env = { PATH: process.env.PATH, ...this.#options.image.env, ...this.#environment() }
    const child = spawn(file!, args, {
      env,
      cwd: this.#options.workingFolder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        this.#log += chunk
      })
    }
    child.on('error', (error) => {
      this.#log += `${error.message}\n`
      child.emit('exit', 127, null)
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }

  #environment(): Record<string, string> {
    return Object.fromEntries((this.spec.env ?? []).map((variable) => [variable.name, this.#valueOf(variable)]))
  }

  #valueOf({ name, value, valueFrom }: Variable): string {
    if (!valueFrom) return this.#place(value ?? '')
    const { name: secret, key } = valueFrom.secretKeyRef
    const found = this.#options.secrets[secret]?.[key]
    if (found === undefined) throw new Error(`${name}: there is no key ${key} in Secret ${secret}`)
    return found
  }

  /** Replaces paths of the container by their paths on this machine. */
  #place(text: string): string {
    const folders = { ...this.#options.image.folders, ...this.#options.mounts }
    const paths = Object.keys(folders).toSorted((a, b) => b.length - a.length)
    if (paths.length === 0) return text
    const pattern = new RegExp(`(?<![\\w./-])(?:${paths.map((path) => path).join('|')})(?![\\w.-])`, 'g')
    return text.replace(pattern, (path) => folders[path]!)
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // the group has already exited
  }
}
