import type { IncomingMessage } from 'node:http'
import { decide } from './decide.ts'
import type { Reuse } from './pipeline.ts'
import { readOptions } from './request-options.ts'
import { tenantOf } from './tenant.ts'

/**
 * What would be sent for a chat completion request and why, as JSON; nothing is sent or remembered. The body stands in
 * it as it would be sent: not parsed, so that its numbers are not rounded.
 */
export function explain(reuse: Reuse, incoming: IncomingMessage, body: Buffer): string {
  const decision = decide(
    {
      body,
      isEncoded: false,
      mode: reuse.mode === 'off' ? 'off' : 'on',
      tenant: tenantOf(incoming.headers),
      conversation: incoming.headers['x-reprise-conversation']?.toString(),
      options: readOptions(incoming.headers['x-reprise-options']?.toString()),
    },
    reuse,
  )
  const { contexts, received } = decision
  // blocks are numbered through the whole prompt, list after list
  const starts = contexts.map((_, i) => contexts.slice(0, i).reduce((sum, { blocks }) => sum + blocks.length, 0))
  const explanation = {
    blocks: contexts.flatMap(({ blocks }) => blocks),
    search_path: contexts[0]?.searchPath ?? [],
    order: contexts.flatMap(({ order }, i) => order.map((place) => starts[i]! + place)),
    annotations: contexts.flatMap(({ annotation }) => annotation ?? []),
    predicted_cached_tokens: decision.predictedCachedTokens,
    replica: reuse.replica,
    skipped: decision.skipped ?? null,
  }
  const sent = decision.body ?? received?.body ?? JSON.stringify(body.toString())
  return `${JSON.stringify(explanation).slice(0, -1)},"body":${sent}}`
}
