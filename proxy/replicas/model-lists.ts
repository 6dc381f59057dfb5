import { askEngine } from '#engine-adapters/ask-engine.ts'
import type { Log } from '../common/log.ts'
import { repeatedly } from './repeated-questions.ts'
import type { Replica } from './replica.ts'
import type { ReplicaSet } from './replica-set.ts'
import { readModels } from './served-models.ts'

interface ModelListsOptions {
  readonly replicas: ReplicaSet
  readonly log: Pick<Log, 'warn'>
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** Adapters are loaded and engines restarted with other models at run time. */
const refreshMilliseconds = 10_000
/** An engine that has not answered may still be starting. */
const askAgainMilliseconds = 1_000
const answerMilliseconds = 5_000

/**
 * Keeps the models that each engine serves up to date, once there are several engines, or names stand for others. An
 * engine's last answer is valid until the next.
 */
export class ModelLists {
  readonly #options: ModelListsOptions
  readonly #askOneAfter = repeatedly((replica: Replica, signal) => this.#ask(replica, signal), answerMilliseconds)
  readonly #told = new WeakSet<Replica>()

  constructor(options: ModelListsOptions) {
    this.#options = options
  }

  /** Asks the replicas that are due. */
  tick(): void {
    void this.#askAfter(({ models }) => (models ? refreshMilliseconds : askAgainMilliseconds))
  }

  /** Asks all again, unless they were asked within a second. Resolves when all have answered, or have been given up. */
  async askNow(): Promise<void> {
    await this.#askAfter(() => askAgainMilliseconds)
  }

  #askAfter(pauseOf: (replica: Replica) => number): Promise<unknown> {
    const { replicas, now } = this.#options
    const isNeeded = replicas.all.length > 1 || replicas.models.aliases.size > 0
    const asking = isNeeded ? replicas.all.filter(({ areModelsStated }) => !areModelsStated) : []
    return Promise.all(asking.map((replica) => this.#askOneAfter(pauseOf(replica), replica, now())))
  }

  async #ask(replica: Replica, signal: AbortSignal): Promise<void> {
    const { replicas, log } = this.#options
    const { engine, apiKey, id } = replica
    const headers = apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`]
    const answer = await askEngine(engine.aside, { path: '/v1/models', headers }, signal)
    // meanwhile the configuration may have named them
    if (replica.areModelsStated) return
    const models = answer?.status === 200 ? readModels(answer.text) : undefined
    if (models) replica.models = models
    if (replica.models || this.#told.has(replica) || !replicas.all.some((other) => other.models)) return
    this.#told.add(replica)
    log.warn(
      { replica: id },
      'the engine cannot be reached or does not list its models: it gets the requests for those that no other serves; or name them in engines[].models',
    )
  }
}
