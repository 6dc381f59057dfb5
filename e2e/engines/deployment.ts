import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningRedis, startRedis } from '../redis-server.ts'
import { askAt } from './ask.ts'
import type { EngineInstallation, EngineSpec, Source } from './engine.ts'
import { EngineProcess } from './engine-process.ts'
import { checkoutTurns } from './prompts.ts'
import { ProxyProcess } from './proxy-process.ts'
import { lanes, Traffic } from './traffic.ts'

/** A real engine behind a real proxy that keeps its state in a real Redis, each in a separate process. */
export class Deployment {
  readonly engine: EngineProcess
  readonly proxy: ProxyProcess
  readonly redis: RunningRedis
  /** this deployment's own folder, removed by `close` */
  readonly folder: string

  private constructor(engine: EngineProcess, proxy: ProxyProcess, redis: RunningRedis, folder: string) {
    this.engine = engine
    this.proxy = proxy
    this.redis = redis
    this.folder = folder
  }

  /** Starts all three, and waits until the proxy knows what the engine holds. */
  static async start(spec: EngineSpec, source: Source, installation: EngineInstallation): Promise<Deployment> {
    const folder = await mkdtemp(join(tmpdir(), 'reprise-engine-'))
    const proxy = await ProxyProcess.atFreePorts()
    const { callbackUrl } = proxy
    const engine = await EngineProcess.prepare(spec, source, { installation, callbackUrl, folder })
    const deployment = new Deployment(engine, proxy, await startRedis(), folder)
    try {
      await engine.start()
      await deployment.startProxy()
      await deployment.#warmUp()
    } catch (error) {
      await deployment.close()
      throw error
    }
    return deployment
  }

  /** Starts the proxy at its previous addresses and waits until it knows what the engine holds. */
  async startProxy(): Promise<void> {
    await this.proxy.start(this.engine, this.redis.url)
    await this.proxy.waitUntilExact()
  }

  /** Sends first requests, which may overtake each other while the engine still loads what it needs. */
  async #warmUp(): Promise<void> {
    await new Traffic(askAt(this.proxy.url, 'first'), await checkoutTurns(lanes)).finished()
  }

  async close(): Promise<void> {
    await this.proxy.kill()
    await this.engine.stop()
    await this.redis.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}
