import type { Replica } from './replica.ts'
import type { ServedModels } from './served-models.ts'

/** A replica whose models are asked for. */
type ModelTarget = Pick<Replica, 'areModelsStated' | 'models'>

interface ModelListsOptions<T> {
  /** those there are now */
  readonly targets: () => readonly T[]
  /** Whether anybody needs to know: with one engine, or none asked by name, nothing is asked. */
  readonly isNeeded: () => boolean
  /** Asks a replica for its models; undefined: it does not say. Never rejects. */
  readonly ask: (target: T) => Promise<ServedModels | undefined>
  /** Called once for a replica that does not say what it serves while another does. */
  readonly onUnknown: (target: T) => void
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** Adapters are loaded and engines restarted with other models at run time. */
const refreshMilliseconds = 10_000
/** An engine that has not answered may still be starting. */
const askAgainMilliseconds = 1_000

interface Asked {
  at: number
  asking: Promise<void> | undefined
  wasTold: boolean
}

/** Keeps the models that each engine serves up to date. Its last answer is valid until the next. */
export class ModelLists<T extends ModelTarget> {
  readonly #asked = new WeakMap<T, Asked>()
  readonly #options: ModelListsOptions<T>

  constructor(options: ModelListsOptions<T>) {
    this.#options = options
  }

  /** Asks the replicas that are due. */
  tick(): void {
    for (const target of this.#asking()) {
      const pause = target.models ? refreshMilliseconds : askAgainMilliseconds
      void this.#askAfter(pause, target)
    }
  }

  /** Asks all again, unless they were asked within a second. Resolves when all have answered, or have been given up. */
  async askNow(): Promise<void> {
    await Promise.all(this.#asking().map((target) => this.#askAfter(askAgainMilliseconds, target)))
  }

  #asking(): readonly T[] {
    const { targets, isNeeded } = this.#options
    return isNeeded() ? targets().filter(({ areModelsStated }) => !areModelsStated) : []
  }

  #askAfter(pause: number, target: T): Promise<void> {
    const { now } = this.#options
    const asked = this.#asked.get(target) ?? { at: Number.NEGATIVE_INFINITY, asking: undefined, wasTold: false }
    this.#asked.set(target, asked)
    if (asked.asking === undefined && now() - asked.at >= pause) {
      asked.at = now()
      asked.asking = this.#ask(target, asked)
    }
    return asked.asking ?? Promise.resolve()
  }

  async #ask(target: T, asked: Asked): Promise<void> {
    const { ask, onUnknown, targets } = this.#options
    const models = await ask(target)
    asked.asking = undefined
    // meanwhile the configuration may have named them
    if (target.areModelsStated) return
    if (models) target.models = models
    if (target.models || asked.wasTold || !targets().some((other) => other.models)) return
    asked.wasTold = true
    onUnknown(target)
  }
}
