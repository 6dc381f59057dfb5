import { appendFileSync, closeSync, existsSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { isObject, tryJson } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { byteLines, piecesOf } from '../byte-lines.ts'
import type { BadLine, BatchRequest } from './batch-file.ts'

/** What came of a request: the answer of an engine or of the proxy, or why there is none. */
export interface Outcome {
  readonly status: number | undefined
  /** as the answer has it */
  readonly requestId: string | undefined
  /** as received; for no answer, what went wrong */
  readonly body: string
  /** why there is no answer */
  readonly fault?: 'no_answer' | 'no_json_object' | undefined
}

/** The id of each request, by its custom id. */
type Ids = ReadonlyMap<string, string>
type KeepResult = (customId: string, body: string, status: number) => void

/**
 * The results of a batch in OpenAI's format, a line each, in the order in which they came. Written line by line, so
 * that a run that was cut off can go on.
 */
export class ResultsFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /**
   * Keeps final results, and drops what is sent again: bad lines, an incomplete last line, and what the engine could not
   * do at that time. Calls `keep` for each kept result. Throws a ConfigError for results of other requests.
   */
  resume(ids: Ids, keep: KeepResult): void {
    if (!existsSync(this.path)) this.#try(() => appendFileSync(this.path, '', { mode: 0o600 }))
    const copy = `${this.path}.${process.pid}.tmp`
    const [from, to] = this.#try(() => [openSync(this.path, 'r'), openSync(copy, 'w', 0o600)] as const)
    try {
      this.#copyFinal(from, to, ids, keep)
      this.#try(() => renameSync(copy, this.path))
    } finally {
      closeSync(from)
      closeSync(to)
      rmSync(copy, { force: true })
    }
  }

  addBad({ customId, line, code, message }: BadLine): void {
    const custom_id = customId ?? null
    this.#append({ id: `batch_line_${line}`, custom_id, response: null, error: { code, message, line } })
  }

  add({ id, customId }: BatchRequest, { status, requestId, body, fault = 'no_answer' }: Outcome): void {
    if (status === undefined) {
      this.#append({ id, custom_id: customId, response: null, error: { code: fault, message: body } })
      return
    }
    // as the engine wrote it, on one line: breaks between values mean nothing, and texts hold none
    const json = tryJson(body) === undefined ? JSON.stringify(body) : body.replaceAll(/[\r\n]+/g, ' ').trim()
    const head = JSON.stringify({
      id,
      custom_id: customId,
      response: { status_code: status, request_id: requestId ?? null },
    })
    this.#append(`${head.slice(0, -2)},"body":${json}},"error":null}`)
  }

  #copyFinal(from: number, to: number, ids: Ids, keep: KeepResult): void {
    const kept = new Set<string>()
    let other: string | undefined
    let isOwn = false
    for (const { line, id, customId, status, body } of this.#read(from)) {
      const own = ids.get(customId)
      if (own === undefined) other = customId
      else isOwn = true
      if (status === undefined || !isFinal(status) || kept.has(customId) || isNoAnswer(status, body)) continue
      // a request that was refused may have been mended since
      if (own !== id && status >= 400) continue
      if (own !== id) throw this.#ofAnother(`'${customId}' is another request there, or none`)
      this.#try(() => writeSync(to, `${line}\n`))
      kept.add(customId)
      keep(customId, JSON.stringify(body), status)
    }
    if (other !== undefined && !isOwn) throw this.#ofAnother(`no request here is '${other}'`)
  }

  /** Reads the results that name their request. Throws a ConfigError if a line is none, unless it is an incomplete last one. */
  *#read(file: number): Generator<ReadResult & { readonly line: string; readonly customId: string }> {
    const { size } = fstatSync(file)
    for (const { at, bytes } of byteLines(this.path, piecesOf(file))) {
      const line = bytes.toString()
      if (line.trim() === '') continue
      const result = readResult(line)
      const isCutOff = at + bytes.length === size && line.startsWith(lineStart)
      if (!result && !isCutOff) throw this.#ofAnother('a line that is no result')
      if (result?.customId !== undefined) yield { line, ...result, customId: result.customId }
    }
  }

  #append(result: object | string): void {
    const line = typeof result === 'string' ? result : JSON.stringify(result)
    this.#try(() => appendFileSync(this.path, `${line}\n`))
  }

  #try<T>(act: () => T): T {
    try {
      return act()
    } catch (error) {
      throw new ConfigError(`cannot write ${this.path}: ${(error as Error).message}`)
    }
  }

  #ofAnother(difference: string): ConfigError {
    return new ConfigError(
      `${this.path} does not have the results of this batch (${difference}): delete it, or name another with --out`,
      2,
    )
  }
}

/** How each line begins, even one that was cut off soon. */
const lineStart = '{"id":"batch_'
/** The ids of results and of bad lines; other tools write others. */
const ownId = /^batch_(?:req_[\w-]{22}|line_\d+)$/

/** Statuses that judge a request, and not the time, the key or the engine. */
const verdicts = [400, 413, 422]

/** Whether a result with this status stands: another run would end the same way. */
export function isFinal(status: number): boolean {
  return (status >= 200 && status < 300) || verdicts.includes(status)
}

/** Whether it says success without an object or array of JSON, as every API answers with. */
export function isNoAnswer(status: number, said: unknown): boolean {
  return status >= 200 && status < 300 && (typeof said !== 'object' || said === null)
}

interface ReadResult {
  readonly id: string
  readonly customId: string | undefined
  readonly status: number | undefined
  readonly body: unknown
}

function readResult(line: string): ReadResult | undefined {
  const value = tryJson(line)
  if (!isObject(value) || !('custom_id' in value) || !('response' in value)) return undefined
  const { id, custom_id: customId, response } = value
  if (typeof id !== 'string' || !ownId.test(id)) return undefined
  const { status_code: status, body } = isObject(response) ? response : {}
  return {
    id,
    customId: typeof customId === 'string' ? customId : undefined,
    status: typeof status === 'number' ? status : undefined,
    body: body ?? null,
  }
}
