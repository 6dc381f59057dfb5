import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tryJson } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import type { PassName } from './passes.ts'
import type { Answer } from './send-request.ts'

/** What all answers depend on: those from another setting do not answer the same question. */
type ResultsSetting = Readonly<Record<string, string | number | boolean | null>>

interface Line extends Answer {
  readonly pass: PassName
  readonly id: string
  /** digest of the request */
  readonly request: string
}

/** Answers that are kept in a file, one per line, so that an interrupted comparison continues where it was. */
export class ResultsFile {
  readonly file: string
  readonly #digests: ReadonlyMap<string, string>
  readonly #answers = new Map<string, Answer>()
  /** whether the engine has refused log-probabilities */
  hasRefusedLogProbabilities = false

  /**
   * Reads the existing answers. `digests`: of the requests, by id. Throws if answers are from another setting or to
   * other requests. An incomplete last line is ignored; a file that contains nothing else is started again.
   */
  constructor(file: string, setting: ResultsSetting, digests: ReadonlyMap<string, string>) {
    this.file = file
    this.#digests = digests
    const head = JSON.stringify({ setting })
    // a device may have no end
    const isPlain = statSync(file, { throwIfNoEntry: false })?.isFile()
    const text = this.#try('read', () => (isPlain ? readFileSync(file, 'utf8') : ''))
    if (head.startsWith(text.trim())) {
      this.#try('write', () => writeFileSync(file, `${head}\n`, { mode: 0o600 }))
      return
    }
    const [first, ...lines] = text.split('\n')
    if (first !== head) throw this.#ofAnother('other options, or another engine')
    for (const line of lines) this.#read(line)
    // what follows begins on a new line
    if (lines.at(-1) !== '') this.#append('\n')
  }

  get(pass: PassName, id: string): Answer | undefined {
    return this.#answers.get(`${pass}/${id}`)
  }

  add(pass: PassName, id: string, answer: Answer): void {
    this.#keep(pass, id, answer)
    const line: Line = { pass, id, request: this.#digests.get(id)!, ...answer }
    this.#append(`${JSON.stringify(line)}\n`)
  }

  #read(text: string): void {
    // undefined if it is incomplete: it was being written when the comparison was interrupted
    const line = tryJson(text) as Line | undefined
    if (line === undefined) return
    const { pass, id, request, ...answer } = line
    // `--limit` may have been higher before
    if (!this.#digests.has(id)) return
    if (this.#digests.get(id) !== request) throw this.#ofAnother('other requests')
    this.#keep(pass, id, answer)
  }

  #keep(pass: PassName, id: string, answer: Answer): void {
    this.#answers.set(`${pass}/${id}`, answer)
    this.hasRefusedLogProbabilities ||= answer.refusedLogProbabilities === true
  }

  #append(text: string): void {
    this.#try('write', () => appendFileSync(this.file, text))
  }

  #try<T>(verb: string, act: () => T): T {
    try {
      return act()
    } catch (error) {
      throw new ConfigError(`cannot ${verb} ${this.file} (${(error as Error).message}): name another with --results`)
    }
  }

  #ofAnother(difference: string): ConfigError {
    return new ConfigError(
      `${this.file} has the answers of another comparison (${difference}): delete it, or name another with --results`,
    )
  }
}
