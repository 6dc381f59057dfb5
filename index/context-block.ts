import { hash } from 'node:crypto'

declare const blockId: unique symbol
declare const requestId: unique symbol
declare const replicaId: unique symbol
declare const scopeId: unique symbol

/** Identity of a context block: a hash of its content, never of its label or place. */
export type BlockId = string & { readonly [blockId]: true }
/** The id by which an engine knows a request. */
export type RequestId = string & { readonly [requestId]: true }

/** Identifies a request: its id, or an integer. */
export type RequestKey = RequestId | number
/** One engine process. */
export type ReplicaId = string & { readonly [replicaId]: true }
/** Identity of all the text before a context. Only contexts after equal text can share a prefix. */
export type ScopeId = string & { readonly [scopeId]: true }

/** The blocks of one request in order, best first as the caller ranked them. */
export type Context = readonly BlockId[]

/**
 * Content hash of a block. Equal content gives equal ids, and nothing is normalised. It is 128 bits of SHA-256 because
 * a chosen collision would let one document replace another. MurmurHash3 in JavaScript would also be 30 times slower:
 * 338 µs against 10 µs for 16 KB.
 */
export function toBlockId(content: string): BlockId {
  // UTF-8 turns every lone surrogate into the same replacement character
  if (content.isWellFormed()) return digestOf(content) as string as BlockId
  return `~${digestOf(JSON.stringify(content))}` as BlockId
}

const idLength = 22
const scratch = Buffer.alloc(idLength)
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** By the code of a digit: the code of the digit with only its first two bits, which end 128 bits. */
const lastDigits = new Uint8Array(128)
for (const [value, digit] of [...DIGITS].entries()) lastDigits[digit.charCodeAt(0)] = DIGITS.charCodeAt(value & 0x30)

/** Identity of a text: the first 128 bits of its SHA-256, in base64url. */
export function digestOf(text: string): ScopeId {
  // a substring would keep the whole string in memory, and a buffer for each digest takes as long as the digest
  scratch.write(hash('sha256', text, 'base64url'), 0, idLength, 'latin1')
  scratch[idLength - 1] = lastDigits[scratch[idLength - 1]!]!
  return scratch.toString('latin1') as ScopeId
}
