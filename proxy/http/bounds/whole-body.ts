import { Readable } from 'node:stream'
import { type Json, tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import { digestOf } from '#index/context-block.ts'
import { ProxyError } from '../../common/errors.ts'
import type { Span, Splice } from '../../common/json/json-spans.ts'
import { type EngineWish, writeWish } from '../../prompt/body/engine-wish.ts'
import { spliceBody } from '../../prompt/body/splice-body.ts'
import type { BodyScan } from './scan-body.ts'

/** The members that decide how a request is sent, independent of its prompt. */
export const decidingMembers: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'cache_salt',
  'rid',
  'reprise',
  'prompt',
  'text',
  'input_ids',
  'echo',
  'logprobs',
  'prompt_logprobs',
  'kv_transfer_params',
  'custom_params',
])

/** A longer value of a deciding member is a prompt, and is not read. */
const longestValue = 4_096
/** The longest value in which fields are set. */
const longestSetIn = 65_536
/** How much of a body is passed to the engine's socket at a time. */
const pieceBytes = 1024 * 1024

const beginsWithNumber = /^\[\s*(\[\s*)?\d/
const longestBeginning = 64
const openBracket = 0x5b

/** A body that is forwarded as received. It is scanned but never parsed, and its bytes are never copied. */
export class WholeBody {
  readonly #scan: BodyScan
  /** the short deciding members */
  readonly members: Json

  constructor(scan: BodyScan) {
    this.#scan = scan
    this.members = readMembers(scan)
  }

  /** Whether it has this deciding member, however long. */
  has(member: string): boolean {
    return this.#scan.members.has(member)
  }

  /** Whether the value of a deciding member is too long to be read. */
  isTooLong(member: string): boolean {
    const { start, end } = this.#valueOf(member) ?? { start: 0, end: 0 }
    return end - start > longestValue
  }

  /** of duplicates, the last counts */
  #valueOf(member: string): Span | undefined {
    return this.#scan.members.get(member)?.at(-1)
  }

  /** Whether it holds a single prompt rather than a list. */
  hasOnePrompt(api: PromptApi): boolean {
    const name = api === 'completions' ? 'prompt' : api === 'generate' ? 'text' : undefined
    if (name === undefined) return true
    const { start } = this.#valueOf(name) ?? {}
    return start !== undefined && this.#scan.bytes[start] !== openBracket
  }

  /** Whether its prompts are lists of token ids, which only the engine can read. */
  get holdsTokenIds(): boolean {
    return ['prompt', 'input_ids'].some((name) => {
      const { start } = this.#valueOf(name) ?? {}
      return (
        start !== undefined &&
        beginsWithNumber.test(this.#scan.bytes.toString('latin1', start, start + longestBeginning))
      )
    })
  }

  /**
   * Returns its bytes in pieces, with members set: replaces existing ones and duplicates, and adds others in front. Of
   * wishes, only what must be set is written. Throws `invalid_body` where it cannot be.
   */
  write(members: Readonly<Record<string, unknown>>, wishes: readonly EngineWish[] = []): Buffer[] {
    const { membersStart, isEmpty, members: present } = this.#scan
    if (membersStart === undefined) return [this.#scan.bytes]
    const set = wishes.filter((wish) => wish.set)
    const splices = set.flatMap((wish) => (present.get(wish.member) ?? []).flatMap((span) => this.#withSet(span, wish)))
    const absent: Record<string, unknown> = {}
    for (const wish of set) if (!present.has(wish.member)) absent[wish.member] = { [wish.own]: wish.set }
    for (const [name, value] of Object.entries(members)) {
      const spans = present.get(name)
      if (!spans) absent[name] = value
      for (const span of spans ?? []) splices.push({ ...span, text: JSON.stringify(value) })
    }
    if (Object.keys(absent).length > 0) {
      const text = `${JSON.stringify(absent).slice(1, -1)}${isEmpty ? '' : ','}`
      splices.push({ start: membersStart, end: membersStart, text })
    }
    return spliceBytes(
      this.#scan.bytes,
      splices.sort((a, b) => a.start - b.start),
    )
  }

  /** Returns how to write a wish into a member's value. Throws `invalid_body` if that cannot be read: it must be set. */
  #withSet({ start, end }: Span, { member, own, set }: EngineWish): Splice[] {
    const name = `{${JSON.stringify(member)}:`
    const isRead = end - start <= longestSetIn
    const json = isRead ? `${name}${this.#scan.bytes.toString('utf8', start, end)}}` : ''
    if (tryJson(json) === undefined) {
      const fault = isRead ? 'is not valid JSON' : `is longer than ${longestSetIn} bytes`
      throw new ProxyError(
        'invalid_body',
        `${member} ${fault}, and the engine must be told in it whose the request is.`,
      )
    }
    const { splices } = writeWish({ json }, { member, own, value: {}, set: set! })
    const text = spliceBody(Buffer.from(json), json, splices).toString().slice(name.length, -1)
    return [{ start, end, text }]
  }
}

/** Returns bytes in pieces, with ascending splices applied. */
export function spliceBytes(bytes: Buffer, splices: readonly Splice[]): Buffer[] {
  const parts: Buffer[] = []
  let at = 0
  for (const { start, end, text } of splices) {
    parts.push(bytes.subarray(at, start), Buffer.from(text))
    at = end
  }
  return [...parts, bytes.subarray(at)]
}

/** Returns the parts of a body as a stream. Its reader never gets more than a megabyte at once. */
export function toStream(parts: readonly Buffer[]): Readable {
  return Readable.from(pieces(parts), { objectMode: false, highWaterMark: pieceBytes })
}

/** Returns the request with a large body as a stream: passing it on at once would hold up other requests. */
export function inPieces<T extends { readonly body: Buffer | Readable | null }>(request: T): T {
  const { body } = request
  return Buffer.isBuffer(body) && body.length > pieceBytes ? { ...request, body: toStream([body]) } : request
}

function* pieces(parts: readonly Buffer[]): Generator<Buffer> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes)
  }
}

/**
 * Returns a prompt of which only the bytes are known. Equal bodies of a tenant are the same prompt, and no other prompt
 * shares a prefix with it. It tells a mirror how much space the request takes.
 */
export function toUnreadPrompt(tenant: string, scan: Pick<BodyScan, 'bytes' | 'digest'>): SentPrompt {
  const prefix = digestOf(JSON.stringify([tenant, 'unread', scan.digest()]))
  const { length } = scan.bytes
  return { contexts: [], prefixes: [prefix], ends: [length], length }
}

function readMembers({ bytes, members }: BodyScan): Json {
  const read: Json = {}
  for (const [name, spans] of members) {
    const { start, end } = spans.at(-1)!
    if (end - start > longestValue) continue
    const value = tryJson(bytes.toString('utf8', start, end))
    // otherwise left for the engine to refuse
    if (value !== undefined) read[name] = value
  }
  return read
}
