import { request } from 'undici'
import { findFreePort } from '../demo/find-free-port.ts'
import { waitFor } from '../redis-server.ts'
import { type RunningReprise, startReprise } from '../start-reprise.ts'
import type { EngineProcess } from './engine-process.ts'

/** What the control plane reports about the only replica. */
export interface MirrorReport {
  readonly mode: 'exact' | 'degraded' | 'fallback'
  readonly generation: string | null
  readonly requests: number
  readonly cached_tokens: number
}

const quietMilliseconds = 500
const environment = { REPRISE_REDIS_SHARE_TOKENS: 'true', REPRISE_LOGS_LEVEL: 'warn' }
/** The engine's name in the proxy's control plane. */
const replicaName = 'engine'

/** `reprise serve` in front of one engine; it can be killed and restarted at the same addresses. */
export class ProxyProcess {
  readonly url: string
  readonly adminUrl: string
  #running: RunningReprise | undefined

  private constructor(port: number, adminPort: number) {
    this.url = `http://127.0.0.1:${port}`
    this.adminUrl = `http://127.0.0.1:${adminPort}`
  }

  /** Chooses its ports: an engine's plugin must know them before either is started. */
  static async atFreePorts(): Promise<ProxyProcess> {
    return new ProxyProcess(await findFreePort(), await findFreePort())
  }

  /** The URL that the engine's plugin reports to. */
  get callbackUrl(): string {
    return `${this.adminUrl}/v1/replicas/${replicaName}`
  }

  /** Starts it in front of an engine, and waits until it listens. */
  async start({ url, spec, source, ports }: EngineProcess, redisUrl: string): Promise<void> {
    const events = [`events=tcp://127.0.0.1:${ports.events}`, `replay=tcp://127.0.0.1:${ports.replay}`]
    const engine = [url, `kind=${spec.kind}`, `id=${replicaName}`, ...(source === 'kv-events' ? events : [])]
    const places = ['--listen', new URL(this.url).host, '--admin-listen', new URL(this.adminUrl).host]
    const args = [...places, '--engine', engine.join(','), '--redis', redisUrl]
    this.#running = await startReprise(args, { env: environment })
  }

  async kill(): Promise<void> {
    this.#running?.child.kill('SIGKILL')
    await this.#running?.exited
    this.#running = undefined
  }

  /** Its stderr output since it was last started. */
  get log(): string {
    return this.#running?.stderr ?? ''
  }

  async mirror(): Promise<MirrorReport> {
    const response = await request(`${this.adminUrl}/v1/mirror`)
    const { replicas } = (await response.body.json()) as { replicas: [MirrorReport] }
    return replicas[0]
  }

  /** Waits until the engine reports to it and it knows everything the engine holds. */
  async waitUntilExact(): Promise<void> {
    await waitFor(async () => (await this.mirror()).mode === 'exact', 30_000)
  }

  /** Waits until nothing has changed in the mirror for a while. */
  async waitUntilQuiet(): Promise<void> {
    const seen = async (): Promise<string> => {
      const { requests, cached_tokens } = await this.mirror()
      return `${requests} ${cached_tokens}`
    }
    let [last, since] = [await seen(), Date.now()]
    await waitFor(async () => {
      const now = await seen()
      if (now !== last) [last, since] = [now, Date.now()]
      return Date.now() - since >= quietMilliseconds
    }, 30_000)
  }
}
