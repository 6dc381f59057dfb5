import { Agent } from 'undici'
import type { Progress } from './progress.ts'
import { type ChatMessage, SYSTEM_MESSAGE, toUserMessage } from './prompt.ts'
import { type ChatOutcome, sendChat } from './send-chat.ts'
import type { Turn } from './workload.ts'

export interface RunOptions {
  readonly baseUrl: string
  readonly model: string
  readonly maxTokens: number
  readonly concurrency: number
  /** Ends the run: aborts requests in flight and sends no more. */
  readonly interrupted: AbortSignal
  readonly progress: Progress
}

export interface TurnOutcome extends ChatOutcome {
  readonly turn: Turn
}

export interface TurnFailure {
  readonly turn: Turn
  readonly reason: string
}

/** The result of one run of a workload. */
export interface Run {
  /** In the order of sending. */
  readonly outcomes: readonly TurnOutcome[]
  readonly failures: readonly TurnFailure[]
  readonly seconds: number
}

/** Sends the turns in order, at most `concurrency` at once and one at a time within a conversation. */
export async function runRequests(turns: readonly Turn[], options: RunOptions): Promise<Run> {
  const start = performance.now()
  // prefill may take minutes on a slow engine, so there is no timeout
  const agent = new Agent({ connections: options.concurrency, headersTimeout: 0, bodyTimeout: 0 })
  const histories = new Map<string, ChatMessage[]>()
  const outcomes = new Map<Turn, TurnOutcome>()
  const failures: TurnFailure[] = []

  const send = async (turn: Turn): Promise<void> => {
    if (options.interrupted.aborted) return
    const history = (turn.conversation === undefined ? undefined : histories.get(turn.conversation)) ?? []
    const asked = [...history, toUserMessage(turn)]
    const messages = [SYSTEM_MESSAGE, ...asked]
    try {
      const { model, maxTokens, interrupted } = options
      const request = { model, messages, maxTokens, interrupted, apiKey: turn.tenant }
      const outcome = await sendChat(agent, options.baseUrl, request)
      outcomes.set(turn, { turn, ...outcome })
      if (turn.conversation === undefined) return
      histories.set(turn.conversation, [...asked, { role: 'assistant', content: outcome.answer }])
    } catch (error) {
      failures.push({ turn, reason: toReason(error) })
    } finally {
      options.progress.advance()
    }
  }

  await sendInOrder(turns, options.concurrency, send)
  await agent.close()
  const answered = turns.flatMap((turn) => outcomes.get(turn) ?? [])
  return { outcomes: answered, failures, seconds: (performance.now() - start) / 1000 }
}

async function sendInOrder(
  turns: readonly Turn[],
  concurrency: number,
  send: (turn: Turn) => Promise<void>,
): Promise<void> {
  const waiting = [...turns]
  const busy = new Set<string | undefined>()
  const running = new Set<Promise<void>>()
  while (waiting.length > 0) {
    const next = running.size < concurrency ? waiting.findIndex((turn) => !busy.has(turn.conversation)) : -1
    if (next < 0) {
      await Promise.race(running)
      continue
    }
    const turn = waiting.splice(next, 1)[0]!
    if (turn.conversation !== undefined) busy.add(turn.conversation)
    const sent: Promise<void> = send(turn).finally(() => {
      running.delete(sent)
      busy.delete(turn.conversation)
    })
    running.add(sent)
  }
  await Promise.all(running)
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' && 'code' in error ? String(error.code) : error.message
}
