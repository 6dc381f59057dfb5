import { setImmediate as afterIo } from 'node:timers/promises'
import { noKnownTurns } from '#index/conversation-store.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { HistoryWindow } from '#index/ordering/demand-history.ts'
import { readReceived } from '../http/receive/read-received.ts'
import { writeBody } from '../prompt/body/prompt-body.ts'
import { defaultWording } from '../prompt/wording.ts'
import { decide } from '../reuse/decide.ts'
import type { DecisionInput } from '../reuse/decision.ts'
import { layOut } from '../reuse/lay-out-request.ts'

type WriteBlock = (text: string, place: number) => string

/** The ways in which blocks are written that need different code and patterns. */
const forms: readonly WriteBlock[] = [
  (text, place) => `<document index="${place}">\n${text}\n</document>`,
  (text, place) => `[${place}] ${text}`,
  (text, place) => `Source: notes/${place}.md\nContent: ${text}`,
  (text, place) => `## Passage ${place}\n\n${text}`,
  (text, place) => `[passage ${place} begin]\n${text}\n[passage ${place} end]`,
  (text, place) => JSON.stringify({ id: `n${place}`, content: text, score: 1 / place }),
  (text, place) => `${place}. **${text.slice(0, 8)}** ${text}\n\n> a note\n\n\`\`\`js\nread(${place})\n\`\`\``,
]
/** One that holds nothing, and never will. */
const mirror = { maxRequests: 1, maxBlocks: 1, history: new HistoryWindow() }

/**
 * Reads prompts of common forms and decides about them, because V8 compiles functions and patterns when they are first used.
 * Requests are served between its steps. Returns the number of prompts in which blocks were found.
 */
export async function warmUp(): Promise<number> {
  let found = 0
  for (const messages of forms.flatMap(toChats)) {
    if (await holdsBlocks(Buffer.from(JSON.stringify({ model: 'none', messages })))) found += 1
  }
  return found
}

/** Returns chats that hold blocks of a form: in one text, in a tool's result, and each in a text part. */
function toChats(write: WriteBlock): object[][] {
  const blocks = [1, 2, 3, 4, 5].map((place) =>
    write(
      `The archive of place ${(place * 37) % 89} holds ${place * 7919} letters (see below).\nNobody reads them.`,
      place,
    ),
  )
  const question = 'Question: which of them has most?'
  // words for which most patterns are tried
  const wordy = 'How do I compare what the sources say — the newest first? List each with its number.'
  const asked = [{ role: 'user', content: `Context:\n\n${blocks.join('\n\n')}\n\n${question}` }]
  const returned = [
    { role: 'user', content: wordy },
    { role: 'tool', content: `[${blocks.join(',\n')}]` },
  ]
  const parts = [...blocks, question].map((text) => ({ type: 'text', text }))
  return [asked, returned, [{ role: 'user', content: parts }]]
}

/** Decides how a request would be sent, and writes that. Returns whether it holds blocks. */
async function holdsBlocks(body: Buffer): Promise<boolean> {
  const input: DecisionInput = {
    received: readReceived('chat_completions', body, false),
    mode: 'on',
    tenant: '',
    conversation: undefined,
    options: {},
    wording: defaultWording,
  }
  const steps = layOut(input, { store: noKnownTurns })
  let step = steps.next()
  for (; !step.done; step = steps.next()) await afterIo()
  await afterIo()
  const candidates = [{ mirror: new CacheMirror(mirror), hasProcessed: () => false }]
  const state = { candidates, store: noKnownTurns, select: () => 0, now: () => 0 }
  const { blocks, splices } = decide({ ...input, laidOut: step.value }, state)
  writeBody(input.received.prompt!, splices ?? [])
  return blocks > 0
}
