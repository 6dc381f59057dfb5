import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { readEngineError } from '#engine-adapters/read-error.ts'
import type { EngineConnection, Reply } from '../../engine-connection.ts'
import { contextLengthOf, type ServedModel } from '../engine/check-models.ts'
import { type Finding, fatal, ok } from '../finding.ts'
import { judgePrefixCache } from './judge-prefix-cache.ts'
import { type ProbedEngine, probePrefixCache } from './probe-prefix-cache.ts'

/** Providers cache prompts of 1,024 tokens or more, and checkpoints show behind a window of as many. */
const probeTokens = 1200

/** Sends a new prompt several times and judges what the engine reports about it. */
export async function checkPrefixCache(
  connection: EngineConnection,
  { kind, isSalted, model, cache, replica }: ProbedEngine,
): Promise<Finding[]> {
  const engine = adapterFor(kind)
  // a few pages, but at most a third of the model's context length
  const wanted = Math.max(probeTokens, 3 * (cache.pageTokens ?? 0))
  const words = Math.min(wanted, Math.floor((contextLengthOf(model) ?? 131_072) / 3))
  const run = await probePrefixCache(connection, { model: model.id, words, isSalted })
  if (!('first' in run)) {
    return [(await servesEmbeddings(connection, model, run)) ? embeds : judgeRefusal(run, isSalted)]
  }
  return judgePrefixCache({ engine, cache, run, replica })
}

const embeds = ok(
  'prefix_caching',
  'it serves embeddings and no chats: there is no prefix to cache, and known chunks are learnt from its requests',
)

/** Whether an engine that knows no chats embeds texts, as one beside chats may. */
async function servesEmbeddings(connection: EngineConnection, { id }: ServedModel, refused: Reply): Promise<boolean> {
  if (refused.status !== 404 && refused.status !== 400) return false
  const reply = await connection.post('/v1/embeddings', { model: id, input: 'A short text.' })
  return reply.status === 200
}

function judgeRefusal(reply: Reply, isSalted: boolean): Finding {
  if (reply.status === 0) {
    const fix = 'send the engine a request by hand; a slow one needs --timeout-seconds'
    return fatal('prefix_caching', `a chat completion got no answer: ${reply.text}`, fix)
  }
  const why = readEngineError(reply.text)?.message ?? reply.text
  const found = `a chat completion is answered with ${reply.status}: ${excerptOf(why)}`
  const fix =
    /cache_salt/.test(reply.text) && isSalted
      ? 'write --engine URL,kind=openai: then no cache_salt is added'
      : 'mend what the answer names; --model chooses another model'
  return fatal('prefix_caching', found, fix)
}

function excerptOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}
