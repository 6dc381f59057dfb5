import type { ScopeId } from './context-block.ts'
import { hashText } from './hash-text.ts'

/**
 * What stands for a prefix of a prompt: 32 bits of its identity. It is only ever compared with others behind the very same
 * prefix before it, so that two are taken for one once in four billion pairs, and then one prediction is wrong.
 */
export function toPrefixSymbol(prefix: ScopeId): number {
  return hashText(prefix)
}
