import { parseArgs } from 'node:util'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import { groupBy } from '#index/group-by.ts'
import { readTrace } from '#tools/replay/trace/read-trace.ts'
import { printTable, report } from '../../e2e/bench/print-table.ts'
import { requireTraces } from '../../e2e/bench/require-traces.ts'
import { sayMachine } from '../../e2e/bench/say-machine.ts'
import { postJson, ragQuestion, startTestProxy } from '../../e2e/start-test-proxy.ts'

/*
 * `npm run bench:multi-turn -- TRACE…`: conversations that are sent with what came before, as an application that keeps
 * the documents of earlier turns sends them, before an emulated engine. Prints what the engine was sent and computed,
 * with and without de-duplication (ContextPilot, algorithm 3).
 */

interface Message {
  readonly role: string
  readonly content: string
}
interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
  readonly usage: { readonly prompt_tokens: number; readonly prompt_tokens_details: { readonly cached_tokens: number } }
}
interface Turn {
  readonly question: string
  readonly documents: readonly string[]
}

const ways = ['as received', 'reordered', 'de-duplicated', 'both'] as const
const optionsOf: Readonly<Record<(typeof ways)[number], string>> = {
  'as received': 'reorder=off, dedup=off',
  reordered: 'dedup=off',
  'de-duplicated': 'reorder=off',
  both: '',
}

/** Returns the turns of each conversation, in order, of at least two turns. */
async function readConversations(trace: string): Promise<Turn[][]> {
  const { requests } = await readTrace(trace)
  return [...groupBy(requests, ({ conversation }) => conversation!).values()]
    .filter(({ length }) => length > 1)
    .map((turns) =>
      turns.map(({ query, blocks }) => ({ question: query!, documents: blocks.map(({ text }) => text!) })),
    )
}

/** Of documents in later turns, which part was in an earlier one of the same conversation. */
function shareShown(conversations: readonly (readonly Turn[])[]): number {
  const later = conversations.flatMap((turns) =>
    turns.slice(1).flatMap(({ documents }, i) => {
      const shown = new Set(turns.slice(0, i + 1).flatMap((turn) => turn.documents))
      return documents.map((one) => shown.has(one))
    }),
  )
  return later.filter(Boolean).length / later.length
}

async function measure(conversations: readonly (readonly Turn[])[], options: string) {
  const engine = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0, capacityTokens: 1 << 20 })
  const proxy = await startTestProxy({ url: engine.url, kind: 'vllm' })
  const sums = { prompt: 0, computed: 0 }
  try {
    for (const turns of conversations) {
      const messages: Message[] = [{ role: 'system', content: 'Answer from the documents.' }]
      for (const turn of turns) {
        messages.push({ role: 'user', content: ragQuestion(turn.question, turn.documents) })
        const headers = { 'x-reprise-options': options }
        const response = await postJson(
          `${proxy.url}/v1/chat/completions`,
          { model: 'm', messages, max_tokens: 64 },
          options === '' ? {} : { headers },
        )
        if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
        const { choices, usage } = (await response.json()) as Answer
        messages.push({ role: 'assistant', content: choices[0]!.message.content })
        sums.prompt += usage.prompt_tokens
        sums.computed += usage.prompt_tokens - usage.prompt_tokens_details.cached_tokens
      }
    }
    return sums
  } finally {
    await proxy.close()
    await engine.close()
  }
}

const { positionals } = parseArgs({ allowPositionals: true })
const traces = requireTraces(positionals, 'bench:multi-turn -- TRACE…')
sayMachine()
for (const trace of traces) {
  const conversations = await readConversations(trace)
  const rows = []
  let received = { prompt: 0, computed: 0 }
  for (const way of ways) {
    report(`${trace}, ${way} …`)
    const sums = await measure(conversations, optionsOf[way])
    if (way === ways[0]) received = sums
    rows.push([
      way,
      String(sums.prompt),
      (sums.prompt / received.prompt).toFixed(3),
      String(sums.computed),
      (sums.computed / received.computed).toFixed(3),
    ])
  }
  const turns = conversations.reduce((sum, { length }) => sum + length, 0)
  printTable(
    `${trace}: ${conversations.length} conversations, ${turns} turns, ${(100 * shareShown(conversations)).toFixed(1)} % of the documents of later turns shown before`,
    ['sent', 'prompt tokens', 'to as received', 'computed', 'to as received'],
    rows,
  )
}
