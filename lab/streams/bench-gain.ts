import { setTimeout as pause } from 'node:timers/promises'
import { startEmulator } from '#emulator/emulator.ts'
import { digestOf, toBlockId } from '#index/context-block.ts'
import { TemplateGain } from '#proxy/templates/template-gain.ts'
import { printTable, report } from '../../e2e/bench/print-table.ts'
import { postJson, startTestProxy } from '../../e2e/start-test-proxy.ts'
import { dress, markedTemplates, nonsenseTemplate, type PromptTemplate } from './marked-templates.ts'
import { Random } from './random.ts'
import { hasTraces, type Retrieved, readTrace } from './traces.ts'

/*
 * `npm run bench:gain -- [trace …] [template …]`: what the engine finds cached in the second half of 150 requests, as received, in
 * mode `on` and in mode `auto`, beside an oracle that knows borders and sets from the first request on. The engine is
 * the emulator, unlimited; its reader answers from the documents, whatever their order.
 */

const asked = process.argv.slice(2)
const chosen = asked.filter((name) => name.startsWith('rag_'))
const names = chosen.length > 0 ? chosen : ['rag_cookbook_docs', 'rag_cookbook_code', 'rag_hotpot']
const forms = asked.filter((name) => !chosen.includes(name))
const wanted = new Set(forms.length > 0 ? forms : ['elements with attributes'])

interface Half {
  readonly cached: number
  readonly prompt: number
}

/** Returns the share of the characters of lists that an oracle finds in the second half. */
function oracle(rows: readonly Retrieved[], template: PromptTemplate): number {
  const gain = new TemplateGain()
  let [characters, before] = [0, { found: 0, characters: 0 }]
  rows.forEach(({ items }, i) => {
    if (i === rows.length >> 1) before = { found: gain.shares.as_ordered * characters, characters }
    const frame = template.render([], '').length
    const texts = items.map((item) => template.render([dress(item)], ''))
    const sizes = texts.map(({ length }) => length - frame)
    characters += sizes.reduce((sum, size) => sum + size, 0)
    gain.note({ front: digestOf('the same'), blocks: texts.map(toBlockId), sizes })
  })
  return (gain.shares.as_ordered * characters - before.found) / (characters - before.characters)
}

/** Sends a trace through a proxy. Returns what the engine found of its second half. */
async function run(rows: readonly Retrieved[], template: PromptTemplate, mode: 'off' | 'on' | 'auto'): Promise<number> {
  const size = { capacityTokens: 100_000_000, prefillTokensPerSecond: 1e9 }
  const emulator = await startEmulator({ host: '127.0.0.1', port: 0, kind: 'vllm', ...size, reads: true })
  const proxy = await startTestProxy({ url: emulator.url, kind: 'vllm' }, { mode })
  try {
    const half: Half[] = []
    const states: string[] = []
    let samples = 0
    for (const [i, { question, items }] of rows.entries()) {
      const content = template.render(items.map(dress), question)
      const body = { model: 'reader-content', max_tokens: 64, messages: [{ role: 'user', content }] }
      const response = await postJson(`${proxy.url}/v1/chat/completions`, body)
      const { usage } = (await response.json()) as {
        usage: { prompt_tokens: number; prompt_tokens_details?: { cached_tokens: number } }
      }
      const cached = usage.prompt_tokens_details?.cached_tokens ?? 0
      if (i >= rows.length >> 1) half.push({ cached, prompt: usage.prompt_tokens })
      if (mode !== 'auto') continue
      const asked = await untilAsked(proxy.adminUrl, samples)
      samples = asked.samples
      if (states.at(-1)?.split('@')[0] !== asked.state) states.push(`${asked.state}@${i + 1}`)
    }
    if (mode === 'auto') report(`    ${states.join(' ')}`)
    const sum = (read: (one: Half) => number): number => half.reduce((all, one) => all + read(one), 0)
    return sum(({ cached }) => cached) / sum(({ prompt }) => prompt)
  } finally {
    await proxy.close()
    await emulator.close()
  }
}

/**
 * Waits while a template may be proved by the request that was just sent: live traffic has pauses. Returns the states of
 * the templates, and how many samples they have in all; `samples`: how many they had before.
 */
async function untilAsked(adminUrl: string, samples: number): Promise<{ state: string; samples: number }> {
  for (let i = 0; ; i++) {
    const { templates } = (await (await fetch(`${adminUrl}/v1/templates`)).json()) as {
      templates: { state: string; proof: { samples: number; verdict: string } }[]
    }
    const isOpen = templates.some(({ state, proof }) => {
      return (state === 'ready' || state === 'learning') && proof.verdict === 'undecided'
    })
    const known = templates.reduce((sum, { proof }) => sum + proof.samples, 0)
    if (!isOpen || known > samples || i >= 240) {
      return { state: templates.map(({ state }) => state).join('+') || 'none', samples: known }
    }
    await pause(25)
  }
}

if (hasTraces) {
  const nonsense = nonsenseTemplate(new Random(99), 0)
  const templates = [...markedTemplates.filter(({ name }) => wanted.has(name)), { ...nonsense, name: 'nonsense' }]
  const lines: string[][] = []
  for (const name of names) {
    const rows = readTrace(name)
    for (const template of templates) {
      const [best, off, on, auto] = [
        oracle(rows, template),
        await run(rows, template, 'off'),
        await run(rows, template, 'on'),
        await run(rows, template, 'auto'),
      ]
      const ofBest = ((auto - off) / (best - off)).toFixed(2)
      lines.push([name.slice(4), template.name, ...[off, on, auto, best].map((share) => share.toFixed(3)), ofBest])
      report(`  ${name} ${template.name}`)
    }
  }
  const head = ['trace', 'template', 'as received', 'on', 'auto', 'oracle', "auto's gain of the oracle's"]
  printTable('Cached share of the second half of 150 requests', head, lines)
} else {
  report('no traces: set REPRISE_TRACES to a folder of them')
  process.exitCode = 1
}
