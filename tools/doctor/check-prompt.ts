import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptText } from '#proxy/prompt/body/prompt.ts'
import type { PromptBody } from '#proxy/prompt/body/prompt-body.ts'
import type { PromptContext } from '#proxy/prompt/body/prompt-context.ts'
import { type PlacedRefusal, searchMessage } from '#proxy/prompt/find-contexts.ts'
import { guessApi, readPromptBody } from '#proxy/prompt/formats/read-prompt-body.ts'
import { differingRemedy, explainRefusal } from '#proxy/prompt/judge/reasons.ts'
import { type Finding, fatal, ok, warning } from './finding.ts'
import { judgeVolatileText } from './volatile-text.ts'

/** Examines a request body as the proxy would: its blocks, and what differs before them. No `file`: the built-in sample. */
export function checkPrompt({ json, file }: { readonly json: string; readonly file: string | undefined }): Finding[] {
  const from = file ?? 'the built-in sample'
  const body = readBody(json)
  if (typeof body === 'string') {
    return [fatal('blocks', `${from}: ${body}`, 'give a request body as your application sends it, as JSON')]
  }
  // completions may have several prompts: one is enough
  const messages = body.set.prompts[0]?.messages ?? []
  const { texts } = body.set
  const words = texts.map(({ text }) => text)
  const searched = messages.map((message) => searchMessage(message, words))
  const found = searched.map(({ contexts }) => contexts)
  const blocks = judgeBlocks(found.flat(), body.explicit?.blocks?.length ?? 0, from)
  if (file === undefined) {
    const found = `${blocks.found}; your own requests are not checked: give one with --prompt FILE`
    return [{ ...blocks, found }]
  }
  const refusals = searched.flatMap((own) => own.refusals)
  return [
    blocks,
    ...refusals.slice(0, mostRefusals).map((refusal) => toFinding(texts, refusal)),
    ...judgeRanks(found.flat()),
    ...judgeVolatileText(messages, texts, found),
  ]
}

const mostRefusals = 3

/** Finds scores in blocks, which make equal documents differ. */
function judgeRanks(contexts: readonly PromptContext[]): Finding[] {
  const ranks = contexts.flatMap(({ slots }) => slots.flatMap(({ ranks }) => ranks ?? []))
  if (ranks.length === 0) return []
  const names = [...new Set(ranks.map((name) => `'${name}'`))].join(', ')
  const found = `blocks bear ${names}, which changes with every question: equal documents differ by it, and are not reused`
  return [warning('volatile_fields', found, differingRemedy)]
}

function toFinding(texts: readonly PromptText[], { refused, text, start, end }: PlacedRefusal): Finding {
  const { path, text: whole } = texts[text]!
  const { line, begins, remedy } = explainRefusal(whole, refused, { start, end })
  return warning('left_alone', `${path.join('.')}, line ${line}: '${begins}' is left alone: ${refused}`, remedy)
}

type ReadBody = PromptBody & { readonly set: NonNullable<PromptBody['set']> }

/** Reads a request; a text says why it cannot be read. */
function readBody(json: string): ReadBody | string {
  const text = json.replace(/^\uFEFF/, '')
  try {
    const body = readPromptBody(guessApi(tryJson(text)), Buffer.from(text))
    if (body?.set) return { ...body, set: body.set }
  } catch (error) {
    return (error as Error).message
  }
  return 'no request that is known: chat completions, completions, responses, messages, generate'
}

function judgeBlocks(contexts: readonly PromptContext[], explicit: number, from: string): Finding {
  const lists = contexts.length + (explicit > 0 ? 1 : 0)
  const blocks = contexts.reduce((sum, context) => sum + context.blocks.length, explicit)
  const found = `${from}: ${blocks} ${blocks === 1 ? 'block' : 'blocks'} in ${lists} ${lists === 1 ? 'list' : 'lists'}`
  if (blocks > 1) return ok('blocks', found)
  if (blocks === 1) {
    const fix = 'none is needed for prompts with one block; if there are more, mark each as <document>…</document>'
    return warning('blocks', `${found}: there is nothing to order`, fix)
  }
  const fix =
    "write each as <document>…</document>, [1] … or a separate text part, use 'reprise.blocks' with {{context}}, or declare `templates` in the configuration"
  return warning('blocks', `${from}: no blocks found, so nothing can be reused except equal beginnings`, fix)
}

/** A request as applications build it, used if none is given: it shows what is found in a request. */
export const samplePrompt: string = JSON.stringify({
  model: 'any',
  messages: [
    { role: 'system', content: 'Answer from the documents.' },
    {
      role: 'user',
      content: [
        '<documents>',
        '<document index="1">\nThe ferry leaves at nine.\n</document>',
        '<document index="2">\nThe crossing takes two hours.\n</document>',
        '<document index="3">\nDogs travel free.\n</document>',
        '</documents>\n\nQuestion: When does the ferry arrive?',
      ].join('\n'),
    },
  ],
})
