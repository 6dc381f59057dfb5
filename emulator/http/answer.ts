import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { EngineCore, OutputToken } from '../engine-core.ts'
import { type Call, sendJson } from './http-server.ts'
import type { ServedRequest } from './prompt-reader.ts'

/** What was generated for a prompt so far: the whole text, with the counts and the place of its last token. */
export type Output = OutputToken

/** How an API answers one call. */
export interface Answer {
  /** one for each prompt */
  readonly requests: readonly ServedRequest[]
  readonly isStream: boolean
  /** vLLM sends a stream's headers when it has accepted the request, SGLang with the first token. */
  readonly earlyHeaders: boolean
  /** whether the messages of a stream have types, which name its events; otherwise a mark ends it */
  readonly isNamed?: boolean
  /** The messages of a stream: when the request is accepted, for each piece of a prompt's text, and after the last. */
  readonly accepted?: readonly object[]
  pieces(text: string, output: Output, prompt: number): readonly object[]
  closing(outputs: readonly Output[]): readonly object[]
  /** The answer that is not streamed. */
  whole(outputs: readonly Output[]): object
}

/** Runs the requests of a call and sends its answer, as a document or as a stream. */
export async function sendAnswer(engine: EngineCore, { response, signal }: Call, answer: Answer): Promise<void> {
  const { requests, isStream, isNamed = false } = answer
  const send = async (messages: readonly object[]): Promise<void> => {
    for (const message of messages) await writeSse(response, message, signal, isNamed)
  }
  const run = async (request: ServedRequest, prompt: number): Promise<Output> => {
    let output: Output = { index: 0, text: '', cachedTokens: 0, reusedTokens: undefined }
    for await (const token of engine.generate(request, signal)) {
      output = { ...token, text: output.text + token.text }
      if (isStream) await send(answer.pieces(token.text, output, prompt))
    }
    return output
  }
  if (isStream) {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
    if (answer.earlyHeaders) response.flushHeaders()
    await send(answer.accepted ?? [])
  }
  const outputs = await Promise.all(requests.map(run))
  if (!isStream) return sendJson(response, answer.whole(outputs))
  await send(answer.closing(outputs))
  response.end(isNamed ? undefined : 'data: [DONE]\n\n')
}

/** Writes one message, at the client's pace; rejects when `signal` aborts. */
export async function writeSse(
  response: ServerResponse,
  message: object,
  signal: AbortSignal,
  isNamed = false,
): Promise<void> {
  signal.throwIfAborted()
  const name = isNamed ? `event: ${(message as { type?: string }).type}\n` : ''
  if (!response.write(`${name}data: ${JSON.stringify(message)}\n\n`)) await once(response, 'drain', { signal })
}
