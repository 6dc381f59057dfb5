import type { MirroredPrompt, SentPrompt, SharedPrompt } from '../cache-event.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import { namesOf } from '../digests.ts'

/** A prompt that was sent, as a mirror keeps it. */
export function toMirroredPrompt({ contexts, prefixes, ends, length }: SentPrompt): MirroredPrompt {
  return { contexts, symbols: prefixes.map(toPrefixSymbol), ends, length }
}

/** A prompt that another proxy has written down, its blocks by name. */
export function withNames(prompt: SharedPrompt): MirroredPrompt {
  return { ...prompt, contexts: prompt.contexts.map((context) => ({ ...context, blocks: namesOf(context.blocks) })) }
}
