import type { ScopeId } from './context-block.ts'

/**
 * What stands for a prefix of a prompt: 32 bits of its identity. It is only ever compared with others behind the very same
 * prefix before it, so that two are taken for one once in four billion pairs, and then one prediction is wrong.
 */
export function toPrefixSymbol(prefix: ScopeId): number {
  if (prefix.charCodeAt(0) === mark) return Number.parseInt(prefix.slice(1), 36) | 0
  let hash = 0x811c9dc5
  for (let i = 0; i < prefix.length; i++) hash = Math.imul(hash ^ prefix.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) | 0
}

/** A name for a prefix of which only the symbol is known: it has that very symbol. */
export function toPrefixName(symbol: number): ScopeId {
  return `~${(symbol >>> 0).toString(36)}` as ScopeId
}

/** No digest begins with it. */
const mark = '~'.charCodeAt(0)
