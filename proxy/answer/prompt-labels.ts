import { toArray, toObject } from '../common/json/json-value.ts'
import { CitationLabels, type CitationMap } from './citations/citation-labels.ts'

/** The labels of each prompt of a request, by the choices that answer it. */
export class PromptLabels {
  /** by prompt; undefined if none of its labels would change */
  readonly #labels: readonly (CitationLabels | undefined)[]
  readonly #choicesEach: number

  /** `choicesEach` is how many choices answer each prompt; they follow one another. */
  constructor(maps: readonly CitationMap[], choicesEach: number) {
    this.#labels = maps.map((map) => {
      const labels = new CitationLabels(map)
      return labels.isIdentity ? undefined : labels
    })
    this.#choicesEach = choicesEach
  }

  get isIdentity(): boolean {
    return this.#labels.every((labels) => labels === undefined)
  }

  /** Returns the labels that a choice cites; undefined if it is to stay. */
  of(choice: number): CitationLabels | undefined {
    return this.#labels[this.#labels.length === 1 ? 0 : Math.floor(choice / this.#choicesEach)]
  }
}

/** Returns how many choices a request asks for each of its prompts. */
export function choicesEach({ n, sampling_params: sampling }: Readonly<Record<string, unknown>>): number {
  const asked = n ?? toObject(toArray(sampling)[0] ?? sampling).n
  return typeof asked === 'number' && Number.isInteger(asked) && asked > 0 ? asked : 1
}
