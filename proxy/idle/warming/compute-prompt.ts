import { askEngine } from '#engine-adapters/ask-engine.ts'
import { UsageReader } from '#engine-adapters/read-usage.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Call, RoutedCall } from '../../call/call.ts'
import { RequestFollower } from '../../replicas/events/request-follower.ts'
import { AnswerName } from '../../replicas/mirror/answer-name.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { WarmUp } from './write-warm-up.ts'

/** A prompt to be computed. */
interface Prompt {
  readonly api: Call['api']
  readonly id: RequestId
  readonly prompt: RoutedCall['decision']['sent'][number]
  readonly warmUp: WarmUp
}

/** Statuses by which a request is put off rather than refused. */
const later = new Set([408, 409, 425, 429])

/**
 * Lets a replica compute a prompt, and its mirror know. Returns the tokens that were not cached, as predicted if the
 * engine does not count them; `refused`: it never will, undefined: it did not.
 */
export async function computePrompt(
  replica: Replica,
  { api, id, prompt, warmUp }: Prompt,
  signal: AbortSignal,
): Promise<number | 'refused' | undefined> {
  const { cache, adapter, engine } = replica
  const ids = adapter.promptIds(id, { count: 1, isList: false })
  const body = Buffer.from(warmUp.json)
  const follower = new RequestFollower(replica, api, ids, body.length)
  const name = new AnswerName({ adapter, api, ids }, (ours, theirs) => cache.named(ours, theirs))
  const held = cache.mirror.predictCachedTokens(prompt)
  cache.sent(ids[0]!, prompt)
  try {
    follower.sent({ path: warmUp.path, method: 'POST', headers: [...warmUp.headers], body }, [prompt])
    const answer = await askEngine(engine.aside, warmUp, signal)
    if (answer?.status !== 200) {
      cache.failed(ids)
      return answer && answer.status < 500 && !later.has(answer.status) ? 'refused' : undefined
    }
    const [said, reader] = [Buffer.from(answer.text), new UsageReader('application/json')]
    name.onChunk(said)
    reader.push(said)
    const usage = reader.read()
    if (!usage) return 0
    cache.used(ids[0]!, usage.promptTokens, usage.cachedTokens)
    return Math.max(0, usage.promptTokens - (usage.cachedTokens ?? held))
  } finally {
    cache.ended(ids)
  }
}
