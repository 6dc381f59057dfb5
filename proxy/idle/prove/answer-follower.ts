import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { eventsOf } from '#engine-adapters/read-usage.ts'
import { credentialsOf } from '../../access/engine-credentials.ts'
import { findAnswerTexts } from '../../answer/find-answer-texts.ts'
import type { TripFollower } from '../../call/trip.ts'

/** What is known of an answer once it is over. */
export interface FollowedAnswer {
  /** the headers by which the engine authorises the client: names and values, alternating */
  readonly headers: readonly string[]
  readonly answer: string
  readonly promptTokens: number | undefined
}

/** A longer answer is not kept. */
const mostBytes = 256 * 1024

/**
 * Returns what follows the answer to one request. `end` gets its one text once it is over; undefined: the engine did not
 * answer to the end, or there is none, or several, or it is too long.
 */
export function followAnswer(api: PromptApi, end: (followed: FollowedAnswer | undefined) => void): TripFollower {
  const chunks: Buffer[] = []
  let bytes = 0
  let type: string | undefined
  let headers: readonly string[] = []
  let promptTokens: number | undefined
  return {
    sent: (request) => {
      headers = credentialsOf(request.headers)
    },
    onHead: (_status, head) => {
      if ((head['content-encoding'] ?? 'identity') === 'identity') type = head['content-type'] ?? ''
    },
    onChunk: (chunk) => {
      bytes += chunk.length
      if (bytes <= mostBytes) chunks.push(Buffer.from(chunk))
      else chunks.length = 0
    },
    used: (usage) => {
      promptTokens = usage.promptTokens
    },
    ended: (wasRun) => {
      const isRead = wasRun && type !== undefined && bytes <= mostBytes
      const [answer, ...others] = isRead ? textsOf(api, type!, Buffer.concat(chunks).toString()) : []
      end(answer && others.length === 0 ? { answer, headers, promptTokens } : undefined)
    },
  }
}

function textsOf(api: PromptApi, type: string, said: string): string[] {
  if (!type.startsWith('text/event-stream')) return findAnswerTexts(api, tryJson(said)).texts.map(({ text }) => text)
  const texts = new Map<string, string>()
  // the last event of a stream is no JSON
  for (const data of eventsOf(said))
    for (const { of, text, isCumulative } of findAnswerTexts(api, tryJson(data)).texts)
      if (of !== undefined) texts.set(of, isCumulative ? text : (texts.get(of) ?? '') + text)
  return [...texts.values()]
}
