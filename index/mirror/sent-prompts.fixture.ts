import type { SentPrompt } from '../cache-event.ts'
import type { Context, RequestId, ScopeId } from '../context-block.ts'
import { CacheMirror } from './cache-mirror.ts'

/** Creates a mirror with room for everything, in which a token has four characters. */
export function createMirror(): CacheMirror {
  return new CacheMirror({ maxRequests: 10_000, maxBlocks: 1_000_000 })
}

/**
 * Builds a prompt: 100 characters of system text, blocks of 100 characters each and a question of `tail` characters.
 */
export function promptOf(blocks: readonly string[], tail = 0): SentPrompt {
  const ends = [100, ...blocks.map((_, i) => 200 + 100 * i)]
  const prefixes = ends.map((_, i) => ['system', ...blocks.slice(0, i)].join(' ') as ScopeId)
  const context = {
    scope: 'system' as ScopeId,
    blocks: blocks as unknown as Context,
    sizes: blocks.map(() => 100),
    ends: ends.slice(1),
  }
  return { contexts: [context], prefixes, ends, length: ends.at(-1)! + tail }
}

/** Sends prompts in order. The id of each request is its block names joined. */
export function sendAll(mirror: CacheMirror, ...prompts: readonly (readonly string[])[]): void {
  for (const blocks of prompts) {
    mirror.apply({ type: 'sent', request: blocks.join('') as RequestId, prompt: promptOf(blocks) })
  }
}
