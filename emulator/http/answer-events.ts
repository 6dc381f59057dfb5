import type { EngineCore, EngineRequest, OutputToken } from '../engine-core.ts'
import { type Call, sendJson } from './http-server.ts'
import { startSse, writeSseEvent } from './write-sse.ts'

/** An event of a stream; its type is also its SSE event name. */
export interface AnswerEvent {
  readonly type: string
}

/** How an API whose streams have named events answers one request. */
export interface EventAnswer {
  readonly request: EngineRequest
  readonly isStream: boolean
  /** vLLM sends a stream's headers when it has accepted the request, SGLang with the first token. */
  readonly earlyHeaders: boolean
  /** The events that are sent as soon as the request is accepted. */
  readonly accepted: readonly AnswerEvent[]
  /** The events before the first piece of text, for a piece, and after the last. */
  opening(): readonly AnswerEvent[]
  piece(text: string): AnswerEvent
  closing(text: string, cachedTokens: number): readonly AnswerEvent[]
  /** The answer that is not streamed. */
  whole(text: string, cachedTokens: number): object
}

/** Runs a request and sends its answer, as a document or as a stream of named events. */
export async function answerInEvents(
  engine: EngineCore,
  { response, signal }: Call,
  answer: EventAnswer,
): Promise<void> {
  const tokens = engine.generate(answer.request, signal)
  if (!answer.isStream) {
    const { text, cachedTokens } = await collectOutput(tokens)
    return sendJson(response, answer.whole(text, cachedTokens))
  }
  const send = async (events: readonly AnswerEvent[]): Promise<void> => {
    for (const event of events) await writeSseEvent(response, event.type, event, signal)
  }
  startSse(response)
  if (answer.earlyHeaders) response.flushHeaders()
  await send(answer.accepted)
  let [text, cachedTokens] = ['', 0]
  for await (const token of tokens) {
    if (token.index === 0) await send(answer.opening())
    cachedTokens = token.cachedTokens
    text += token.text
    await send([answer.piece(token.text)])
  }
  await send(answer.closing(text, cachedTokens))
  response.end()
}

/** How a request's prompt was served, and everything that was generated for it. */
export interface Output extends Omit<OutputToken, 'index'> {}

/** Runs a request to its end and returns its whole output. */
export async function collectOutput(tokens: AsyncIterable<OutputToken>): Promise<Output> {
  let output: Output = { text: '', cachedTokens: 0, reusedTokens: undefined }
  for await (const { index: _, text, ...counts } of tokens) output = { text: output.text + text, ...counts }
  return output
}
