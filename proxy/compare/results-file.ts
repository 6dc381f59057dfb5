import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ConfigError } from '../config/config-error.ts'
import type { PassName } from './passes.ts'
import type { Answer } from './send-request.ts'

/** What answers depend on: those from another setting do not answer the same question. */
export type ResultsSetting = Readonly<Record<string, string | number | boolean | null>>

/** Answers that are kept in a file, one per line, so that an interrupted comparison continues where it was. */
export class ResultsFile {
  readonly file: string
  readonly #answers = new Map<string, Answer>()

  /** Reads the existing answers. Throws if they are from another setting. An incomplete last line is ignored. */
  constructor(file: string, setting: ResultsSetting) {
    this.file = file
    const head = JSON.stringify({ setting })
    if (!existsSync(file)) {
      try {
        writeFileSync(file, `${head}\n`, { mode: 0o600 })
      } catch (error) {
        throw new ConfigError(`cannot write ${file} (${(error as Error).message}): name another with --results`)
      }
      return
    }
    const [first, ...lines] = readFileSync(file, 'utf8').split('\n')
    if (first !== head) {
      throw new ConfigError(`${file} has the answers of another comparison: delete it, or name another with --results`)
    }
    for (const line of lines) this.#read(line)
    // what follows begins on a new line
    if (lines.at(-1) !== '') appendFileSync(file, '\n')
  }

  get(pass: PassName, id: string): Answer | undefined {
    return this.#answers.get(`${pass}/${id}`)
  }

  add(pass: PassName, id: string, answer: Answer): void {
    this.#answers.set(`${pass}/${id}`, answer)
    appendFileSync(this.file, `${JSON.stringify({ pass, id, ...answer })}\n`)
  }

  #read(line: string): void {
    if (line === '') return
    try {
      const { pass, id, ...answer } = JSON.parse(line) as { pass: PassName; id: string } & Answer
      this.#answers.set(`${pass}/${id}`, answer)
    } catch {
      // it was being written when the comparison was interrupted
    }
  }
}
