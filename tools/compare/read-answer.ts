import { createParser } from 'eventsource-parser'

/** What an engine streamed. */
export interface StreamedAnswer {
  /** text, or the calls of tools: their names and arguments */
  readonly answer: string
  /** undefined: the engine does not say */
  readonly promptTokens: number | undefined
  /** undefined: the engine does not say */
  readonly cachedTokens: number | undefined
  /** mean log-probability of the answer's tokens; undefined: the engine does not return them */
  readonly logProbability: number | undefined
  readonly firstTokenMilliseconds: number
}

interface Delta {
  readonly content?: string | null
  readonly tool_calls?:
    | readonly {
        readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null
      }[]
    | null
}

interface Chunk {
  readonly error?: { readonly message?: string }
  readonly choices?: readonly {
    readonly delta?: Delta
    readonly logprobs?: { readonly content?: readonly { readonly logprob: number }[] | null } | null
  }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null
  } | null
}

/** Reads a streamed answer; `began`: when it was requested. Throws if the answer is incomplete. */
export async function readAnswer(body: AsyncIterable<Buffer>, began: number): Promise<StreamedAnswer> {
  const read = { answer: '', usage: undefined as Chunk['usage'], first: undefined as number | undefined, isDone: false }
  const logProbabilities: number[] = []
  const take = ({ error, choices, usage }: Chunk): void => {
    if (error) throw new Error(`the answer ended in an error: ${error.message ?? 'unknown'}`)
    const text = textOf(choices?.[0]?.delta)
    if (text !== '') read.first ??= performance.now() - began
    read.answer += text
    for (const { logprob } of choices?.[0]?.logprobs?.content ?? []) logProbabilities.push(logprob)
    read.usage = usage ?? read.usage
  }
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') read.isDone = true
      else take(JSON.parse(data) as Chunk)
    },
  })
  const decoder = new TextDecoder()
  for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }))
  if (!read.isDone) throw new Error('the answer broke off before its end')
  const sum = logProbabilities.reduce((total, value) => total + value, 0)
  return {
    answer: read.answer,
    promptTokens: read.usage?.prompt_tokens,
    cachedTokens: read.usage?.prompt_tokens_details?.cached_tokens ?? undefined,
    logProbability: logProbabilities.length > 0 ? sum / logProbabilities.length : undefined,
    firstTokenMilliseconds: read.first ?? performance.now() - began,
  }
}

function textOf(delta: Delta | undefined): string {
  const calls = (delta?.tool_calls ?? []).map(
    ({ function: called }) => `${called?.name ?? ''}${called?.arguments ?? ''}`,
  )
  return [delta?.content ?? '', ...calls].join('')
}
