import type { ScopeId } from '../context-block.ts'

/**
 * Returns a symbol for a prefix of a prompt: a 32-bit hash of its identity. Symbols are only compared after the same
 * preceding prefix. So two prefixes are confused once in four billion pairs, and then one prediction is wrong.
 */
export function toPrefixSymbol(prefix: ScopeId): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < prefix.length; i++) hash = Math.imul(hash ^ prefix.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) | 0
}
