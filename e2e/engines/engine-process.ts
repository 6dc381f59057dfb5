import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import { findFreePort } from '../demo/find-free-port.ts'
import { keptBytecode } from '../kept-bytecode.ts'
import type { EngineInstallation, EnginePorts, EngineSpec, Source } from './engine.ts'

const patienceSeconds = 600
const graceMilliseconds = 15_000
const shownLogCharacters = 4_000

/** A real engine's server, which can be killed and restarted at the same address. */
export class EngineProcess {
  readonly spec: EngineSpec
  readonly source: Source
  readonly ports: EnginePorts
  readonly #installation: EngineInstallation
  readonly #callbackUrl: string
  readonly #folder: string
  readonly #logFile: string
  #child: ChildProcess | undefined

  private constructor(
    spec: EngineSpec,
    source: Source,
    ports: EnginePorts,
    rest: { installation: EngineInstallation; callbackUrl: string; folder: string },
  ) {
    this.spec = spec
    this.source = source
    this.ports = ports
    this.#installation = rest.installation
    this.#callbackUrl = rest.callbackUrl
    this.#folder = rest.folder
    this.#logFile = join(rest.folder, 'engine.log')
  }

  /** Finds ports for the engine and prepares what its source needs; `folder` is the engine's own. */
  static async prepare(
    spec: EngineSpec,
    source: Source,
    rest: { installation: EngineInstallation; callbackUrl: string; folder: string },
  ): Promise<EngineProcess> {
    const ports = { api: await findFreePort(), events: await findFreePort(), replay: await findFreePort() }
    await spec.prepare(rest.installation, source, rest.folder)
    return new EngineProcess(spec, source, ports, rest)
  }

  get url(): string {
    return `http://127.0.0.1:${this.ports.api}`
  }

  /** Starts it and waits until it answers. */
  async start(): Promise<void> {
    const { file, args, env } = this.spec.command({
      installation: this.#installation,
      source: this.source,
      ports: this.ports,
      callbackUrl: this.#callbackUrl,
      folder: this.#folder,
    })
    const log = openSync(this.#logFile, 'a')
    // its own process group, so that its workers are killed with it
    const child = spawn(file, args, {
      env: { ...process.env, ...keptBytecode, ...env },
      cwd: this.#folder,
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#child = child
    endWithThisProcess(child)
    await this.#waitUntilReady(child)
  }

  /** Kills it and all its workers immediately. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#child = undefined
    const gone = isGone(child) ? undefined : once(child, 'exit')
    signalGroup(child, 'SIGKILL')
    await gone
  }

  /** Asks it to end, so that it frees its shared memory; kills it if it does not. */
  async stop(): Promise<void> {
    const child = this.#child
    if (!child) return
    const impatience = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMilliseconds)
    if (!isGone(child)) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    clearTimeout(impatience)
    await this.kill()
  }

  /** Its output since the first start. */
  get log(): string {
    return readFileSync(this.#logFile, 'utf8')
  }

  async #waitUntilReady(child: ChildProcess): Promise<void> {
    const until = Date.now() + patienceSeconds * 1000
    while (!isGone(child) && Date.now() < until) {
      if (await isHealthy(this.url)) return
      await pause(500)
    }
    const fate = isGone(child) ? 'ended before it was ready' : `was not ready after ${patienceSeconds} s`
    await this.kill()
    throw new Error(`${this.spec.name} ${fate}:\n${this.log.slice(-shownLogCharacters)}`)
  }
}

async function isHealthy(url: string): Promise<boolean> {
  // nothing listens while the model loads
  const response = await request(`${url}/health`).catch(() => undefined)
  await response?.body.dump()
  return response?.statusCode === 200
}

/** Kills the engine when this process ends; one left behind would keep a gigabyte of memory until somebody notices. */
function endWithThisProcess(child: ChildProcess): void {
  const kill = (cause: unknown): void => {
    signalGroup(child, 'SIGKILL')
    // a signal with a listener does not end the process by itself
    if (typeof cause === 'string') process.exit(1)
  }
  const events = ['exit', 'SIGINT', 'SIGTERM', 'disconnect']
  for (const event of events) process.once(event, kill)
  child.once('exit', () => {
    for (const event of events) process.off(event, kill)
  })
}

function isGone(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // the group has already exited
  }
}
