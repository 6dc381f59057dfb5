import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Proof } from '#proxy/templates/proof/proof.ts'
import { printTable, report } from '../../e2e/bench/print-table.ts'
import { sayMachine } from '../../e2e/bench/say-machine.ts'
import { Children } from '../../e2e/demo/children.ts'
import { setupVllm } from '../../e2e/demo/vllm/setup-vllm.ts'
import { startVllm } from '../../e2e/demo/vllm/start-vllm.ts'
import type { AskedEngine } from './asked-engine.ts'
import { collect, type Scored } from './collect.ts'
import { readSources } from './samples.ts'
import { createTasks } from './tasks.ts'

/*
 * `npm run bench:proof -- --data FOLDER [--samples N] [--only TASK] [--engine URL --kind vllm|sglang] [--file FILE]`: asks
 * a real engine with a small model about lists, and how likely its answers are when the list stands in another order.
 * FOLDER holds traces. Without an engine, vLLM is set up and started on this CPU. What was scored is added to FILE;
 * without `--data`, FILE alone is printed. Prints a Markdown table: what a proof says of each kind of prompt.
 */

const model = 'SmolLM2-135M-Instruct'
/** vLLM scores such prompts whole, so that all tokens are known. */
const promptTokens = 1_000

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    samples: { type: 'string', default: '12' },
    only: { type: 'string' },
    engine: { type: 'string' },
    kind: { type: 'string', default: 'vllm' },
    file: { type: 'string' },
  },
})

const children = new Children()
const earlier = values.file !== undefined && existsSync(values.file) ? read(values.file) : []
const scored = values.data === undefined ? earlier : [...earlier, ...(await ask(values.data, await findEngine()))]
sayMachine()
print(scored)
await children.stopAll()

async function findEngine(): Promise<AskedEngine> {
  const { engine, kind } = values
  if (engine !== undefined) return { url: engine, kind: kind as AskedEngine['kind'], model }
  const { url } = await startVllm(children, await setupVllm(children))
  return { url, kind: 'vllm', model }
}

async function ask(data: string, engine: AskedEngine): Promise<Scored[]> {
  const all: Scored[] = []
  for (const task of createTasks(readSources(data, Number(values.samples)))) {
    if (values.only !== undefined && values.only !== task.name) continue
    report(`${task.name} …`)
    const answers = await collect(engine, task, { promptTokens })
    if (task.example) answers.push(...(await collect(engine, task, { promptTokens, right: true })))
    all.push(...answers)
    if (values.file !== undefined) for (const one of answers) appendFileSync(values.file, `${JSON.stringify(one)}\n`)
  }
  return all
}

function read(file: string): Scored[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Scored)
}

function print(all: readonly Scored[]): void {
  const names = [...new Set(all.map(({ task }) => task))]
  const head = [
    'kind of prompt',
    'order',
    'answers',
    'tokens',
    'blank line',
    'loss reversed',
    'worst',
    'verdict',
    'rotated',
  ]
  printTable(
    'Loss of log p a token',
    head,
    names.map((name) => toRow(all.filter(({ task }) => task === name))),
  )
}

function toRow(answers: readonly Scored[]): string[] {
  const proofOf = (variant: 'reversed' | 'rotated' | 'blank line'): Proof => {
    const proof = new Proof()
    for (const { scores } of answers)
      proof.add({ sent: scores.received, rewritten: scores[variant], harmless: scores['blank line'] })
    return proof
  }
  const reversed = proofOf('reversed')
  const { loss, worst, tokens } = reversed.figures
  const still = answers.map(({ scores }) =>
    mean(scores.received.map((logprob, i) => logprob - scores['blank line'][i]!)),
  )
  const { task, order } = answers[0]!
  const interval = ({ mean, low, high }: typeof loss): string =>
    `${mean.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
  const figures = [String(answers.length), String(tokens), mean(still).toFixed(2), interval(loss), interval(worst)]
  return [task, order, ...figures, reversed.verdict, proofOf('rotated').verdict]
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
