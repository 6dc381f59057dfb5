import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isObject } from '#engine-adapters/json-object.ts'
import { digestOf } from '#index/context-block.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { memberSpans, valueStart } from '#proxy/common/json/json-spans.ts'
import { byteLines, piecesOf } from '../byte-lines.ts'

/** A request of a batch, whose body stays in the file. */
export interface BatchRequest {
  readonly customId: string
  /** the path it is sent to, as the file has it */
  readonly url: string
  /** names the request in results: depends on all that the line says */
  readonly id: string
  /** where its line is in the file, in bytes */
  readonly at: number
  readonly length: number
}

/** A line that is no request. */
export interface BadLine {
  readonly customId: string | undefined
  /** its number in the file, from 1 */
  readonly line: number
  readonly code: 'invalid_json_line' | 'invalid_request' | 'duplicate_custom_id' | 'stream_unsupported'
  readonly message: string
}

/** A batch in OpenAI's format: a line of `{"custom_id","method":"POST","url","body"}` for each request. */
export class BatchFile {
  readonly path: string
  readonly #file: number

  /** Throws a ConfigError if the file cannot be read. */
  constructor(path: string) {
    this.path = path
    if (path.endsWith('.gz'))
      throw new ConfigError(`${path} is packed: unpack it first, so that it can be read again.`, 2)
    try {
      this.#file = openSync(path, 'r')
      if (!fstatSync(this.#file).isFile()) throw new Error('a file is needed, since it is read twice')
    } catch (error) {
      throw new ConfigError(`cannot read ${path}: ${(error as Error).message}`, 2)
    }
  }

  /** In bytes. */
  get size(): number {
    return fstatSync(this.#file).size
  }

  /** Reads the lines in order, each with the body of its request as it is written in the file. */
  *read(): Generator<{ readonly request: BatchRequest; readonly body: string } | BadLine> {
    const seen = new Map<string, number>()
    for (const { at, number, bytes } of byteLines(this.path, piecesOf(this.#file))) {
      const text = textOf(bytes)
      if (text.trim() === '') continue
      const read = isUtf8(bytes) ? readLine(text, number) : notJson(number, 'is not UTF-8.')
      if ('code' in read) {
        yield read
        continue
      }
      const { customId, url, body } = read
      const earlier = seen.get(customId)
      if (earlier !== undefined) {
        const message = `line ${number}: the custom_id '${customId}' is that of line ${earlier}, too: give each its own.`
        yield { customId, line: number, code: 'duplicate_custom_id', message }
        continue
      }
      seen.set(customId, number)
      const id = `batch_req_${digestOf(JSON.stringify([customId, url, body]))}`
      yield { request: { customId, url, id, at, length: bytes.length }, body }
    }
  }

  /** Reads the body of a request again. */
  bodyOf({ at, length }: BatchRequest): string {
    const bytes = Buffer.alloc(length)
    readSync(this.#file, bytes, 0, length, at)
    return bodyIn(textOf(bytes))
  }

  close(): void {
    closeSync(this.#file)
  }
}

function readLine(text: string, line: number): { customId: string; url: string; body: string } | BadLine {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return notJson(line, `is not valid JSON: ${(error as Error).message}`)
  }
  const customId = isObject(value) && typeof value.custom_id === 'string' ? value.custom_id : undefined
  const fault = faultOf(value)
  if (fault !== undefined) return { customId, line, code: 'invalid_request', message: `line ${line}: ${fault}` }
  const { url, body } = value as { url: string; body: { stream?: unknown } }
  if (body.stream === true) {
    const message = `line ${line}: the results of a batch are whole answers: leave 'stream' out.`
    return { customId, line, code: 'stream_unsupported', message }
  }
  return { customId: customId!, url, body: bodyIn(text) }
}

/** Says what is wrong with a line; undefined if nothing is. */
function faultOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'a JSON object is expected: {"custom_id","method","url","body"}.'
  const { custom_id: id, method, url, body } = value
  if (typeof id !== 'string' || id === '') return "'custom_id' has to be a text that no other line has."
  if (method !== 'POST') return `'method' has to be "POST", not ${JSON.stringify(method) ?? 'missing'}.`
  if (typeof url !== 'string' || !/^\/[!-"$-~]*$/.test(url)) {
    return `'url' has to be a path such as "/v1/chat/completions", not ${JSON.stringify(url) ?? 'missing'}.`
  }
  return isObject(body) ? undefined : "'body' has to be an object: the request's body."
}

/** Returns the body in a line as it is written there, so that nothing of it changes. */
function bodyIn(line: string): string {
  const { start, end } = memberSpans(line, valueStart(line)).get('body')!
  return line.slice(start, end)
}

/** Returns a line without the byte order mark that some editors put in front of a file. */
function textOf(line: Buffer): string {
  return line.toString().replace(/^\uFEFF/, '')
}

function notJson(line: number, fault: string): BadLine {
  return { customId: undefined, line, code: 'invalid_json_line', message: `line ${line} ${fault}` }
}
