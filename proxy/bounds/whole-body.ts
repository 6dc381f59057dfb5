import { Readable } from 'node:stream'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import { digestOf } from '#index/context-block.ts'
import type { Json } from '../prompt/body/prompt-builder.ts'
import type { BodyScan } from './scan-body.ts'

/** The members that decide how a request is sent, whatever its prompt holds. */
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
])

/** The one prompt of a body, by the bytes of the body. */
export interface UnreadBytes {
  /** SHA-256 */
  readonly digest: string
  /** of the body */
  readonly length: number
}

/** A longer value of these is a prompt, and not read. */
const longestValue = 4_096
/** So much of a body is handed to the engine's socket at a time. */
const pieceBytes = 1024 * 1024

const beginsWithNumber = /^\[\s*(\[\s*)?\d/
const longestBeginning = 64

/** A body that is forwarded as received: it is scanned, never parsed, and its bytes are never copied. */
export class WholeBody {
  readonly #bytes: Buffer
  readonly #scan: BodyScan
  /** the deciding members that are short */
  readonly members: Json

  constructor(bytes: Buffer, scan: BodyScan) {
    this.#bytes = bytes
    this.#scan = scan
    this.members = readMembers(bytes, scan)
  }

  /** Whether it has this member, however long. */
  has(member: string): boolean {
    return this.#scan.members.has(member)
  }

  /** Whether it holds one prompt, and not a list of them. */
  hasOnePrompt(api: PromptApi): boolean {
    const name = api === 'completions' ? 'prompt' : api === 'generate' ? 'text' : undefined
    if (name === undefined) return true
    return this.#scan.members.get(name)?.at(-1) !== undefined && this.#firstByteOf(name) !== '['
  }

  /** Whether its prompts are lists of numbers, which are the engine's to read. */
  get holdsTokenIds(): boolean {
    return ['prompt', 'input_ids'].some((name) => {
      const { start } = this.#scan.members.get(name)?.at(-1) ?? {}
      return (
        start !== undefined && beginsWithNumber.test(this.#bytes.toString('latin1', start, start + longestBeginning))
      )
    })
  }

  /** Its bytes in pieces, with members set: in the place of those there are, duplicates too, or in front of all others. */
  write(members: Readonly<Record<string, unknown>>): Buffer[] {
    const { membersStart, isEmpty, members: present } = this.#scan
    if (membersStart === undefined) return [this.#bytes]
    const splices: { start: number; end: number; text: string }[] = []
    const absent: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(members)) {
      const spans = present.get(name)
      if (!spans) absent[name] = value
      for (const span of spans ?? []) splices.push({ ...span, text: JSON.stringify(value) })
    }
    if (Object.keys(absent).length > 0) {
      const text = `${JSON.stringify(absent).slice(1, -1)}${isEmpty ? '' : ','}`
      splices.push({ start: membersStart, end: membersStart, text })
    }
    const parts: Buffer[] = []
    let at = 0
    for (const { start, end, text } of splices.sort((a, b) => a.start - b.start)) {
      parts.push(this.#bytes.subarray(at, start), Buffer.from(text))
      at = end
    }
    return [...parts, this.#bytes.subarray(at)]
  }

  #firstByteOf(member: string): string {
    const { start } = this.#scan.members.get(member)!.at(-1)!
    return String.fromCharCode(this.#bytes[start]!)
  }
}

/** Parts of a body as a stream: what reads it is never handed more than a megabyte at once. */
export function toStream(parts: readonly Buffer[]): Readable {
  return Readable.from(pieces(parts), { objectMode: false, highWaterMark: pieceBytes })
}

/** The same request; to hand a large body over at once would hold up other requests. */
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
 * A prompt of which nothing is known but its bytes: equal bodies of a tenant are one prompt, and no other shares a
 * prefix with it. A mirror that is told of it knows what space it takes.
 */
export function toUnreadPrompt(tenant: string, { digest, length }: UnreadBytes): SentPrompt {
  const prefix = digestOf(JSON.stringify([tenant, 'unread', digest]))
  return { contexts: [], prefixes: [prefix], ends: [length], length }
}

function readMembers(bytes: Buffer, { members }: BodyScan): Json {
  const read: Json = {}
  for (const [name, spans] of members) {
    const { start, end } = spans.at(-1)!
    if (end - start > longestValue) continue
    try {
      read[name] = JSON.parse(bytes.toString('utf8', start, end))
    } catch {
      // the engine's to refuse
    }
  }
  return read
}
