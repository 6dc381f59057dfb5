import type { MirroredPrompt, SentPrompt, SharedPrompt } from '../cache-event.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import { namesOf } from '../digests.ts'

/** Converts a sent prompt to the form a mirror keeps. */
export function toMirroredPrompt({ contexts, prefixes, ends, length }: SentPrompt): MirroredPrompt {
  return { contexts, symbols: prefixes.map(toPrefixSymbol), ends, length }
}

/** Converts a prompt recorded by another proxy, with its blocks as names. */
export function withNames(prompt: SharedPrompt): MirroredPrompt {
  return { ...prompt, contexts: prompt.contexts.map((context) => ({ ...context, blocks: namesOf(context.blocks) })) }
}
