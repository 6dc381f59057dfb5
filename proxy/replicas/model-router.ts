import type { Json } from '#engine-adapters/json-object.ts'
import type { Replica } from './replica.ts'
import { toStatedModels } from './served-models.ts'

/** What a name stands for: the models that may answer it, the preferred one first. */
type ModelAliases = ReadonlyMap<string, readonly string[]>

/**
 * Decides which engines may get a request for a model. Engines that serve the same models, or have not said which, are
 * all equal: then the model is not even looked at, and a name that is not served is for the engine to refuse.
 */
export class ModelRouter<T extends Pick<Replica, 'models' | 'state'>> {
  readonly #engines: () => readonly T[]
  aliases: ModelAliases = new Map()

  /** `engines`: those there are now; the models of the first answer requests that name none. */
  constructor(engines: () => readonly T[]) {
    this.#engines = engines
  }

  /** Whether it matters which model a request is for. */
  get isNeeded(): boolean {
    const engines = this.#engines()
    return engines.some(({ models }) => models?.key !== engines[0]!.models?.key)
  }

  /** What all engines list, and the aliases of what they serve; what several serve is listed once. */
  get entries(): readonly Json[] {
    const listed = new Map<unknown, Json>()
    for (const { models } of this.#engines()) {
      for (const entry of models?.entries ?? []) if (!listed.has(entry.id)) listed.set(entry.id, entry)
    }
    const aliases = [...this.aliases].filter(
      ([name, targets]) => !listed.has(name) && targets.some((target) => listed.has(target)),
    )
    return [...listed.values(), ...toStatedModels(aliases.map(([name]) => name)).entries]
  }

  /**
   * Returns the engines that a request for this model may go to; undefined if all have said what they serve, and none
   * serves it. An engine that has not said gets what no other serves.
   */
  serving(model: string | undefined): readonly T[] | undefined {
    const engines = this.#engines()
    if (!this.isNeeded) return engines
    const [first] = engines[0]!.models?.names ?? []
    const wanted = model ?? first
    // SGLang's clients name an adapter behind the model: MODEL:ADAPTER
    for (const name of wanted === undefined ? [] : [wanted, wanted.split(':', 1)[0]!]) {
      const known = engines.filter(({ models }) => models?.names.has(name))
      if (known.length > 0) return known
    }
    const silent = engines.filter(({ models }) => models === undefined)
    return silent.length > 0 ? silent : undefined
  }

  /**
   * Returns the model that a name stands for: the first that a ready engine serves, or else that any serves, or else the
   * first; undefined if the name is no alias.
   */
  targetOf(name: string): string | undefined {
    const targets = this.aliases.get(name)
    return targets?.find(isServedBy(this.#ready)) ?? targets?.find(isServedBy(this.#engines())) ?? targets?.[0]
  }

  /** Returns the next model behind `target` that a name stands for and a ready engine serves. */
  targetBehind(name: string, target: string): string | undefined {
    const targets = this.aliases.get(name) ?? []
    return targets.slice(targets.indexOf(target) + 1).find(isServedBy(this.#ready))
  }

  get #ready(): readonly T[] {
    return this.#engines().filter(({ state }) => state === 'ready')
  }
}

function isServedBy(engines: readonly Pick<Replica, 'models'>[]): (model: string) => boolean {
  return (model) => engines.some(({ models }) => models === undefined || models.names.has(model))
}
