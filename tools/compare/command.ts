import { setTimeout as delay } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { argument, atLeast, readEngine } from '#proxy/config/read-arguments.ts'
import { type PassName, passes, passNames } from './passes.ts'
import type { CompareOptions } from './run-compare.ts'

interface CompareFlags extends Omit<CompareOptions, 'engineKey' | 'signal' | 'wait'> {
  readonly json?: boolean
}

/** Adds `compare`; what it needs is loaded when it runs, so that it does not slow down the start of other commands. */
export function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description(
      'sends a trace to your engine as received and as rewritten, and compares answers, cached tokens and times',
    )
    .argument('<trace>', 'a folder with queries, turns or questions and blocks with texts, or its file of requests')
    .requiredOption(
      '--engine <url[,kind=…]>',
      "the engine, as for 'serve' (key: REPRISE_ENGINE_API_KEY)",
      argument(readEngine),
    )
    .option('--model <name>', 'the model to ask (default: the first that the engine serves)')
    .option('--limit <n>', 'send only the first n requests', atLeast(1))
    .option('--top-k <n>', 'only the best n blocks of each request, unless it was recorded as received', atLeast(1))
    .option('--max-tokens <n>', 'longest answer', atLeast(1), 48)
    .addOption(
      new Option('--passes <names>', `among ${passNames.join(', ')}; received is always included`)
        .argParser(readPasses)
        .default([...passNames], 'all'),
    )
    .option('--results <file>', 'where answers are kept, so that an interrupted run can resume')
    .option('--report <file.md>', 'write a report as Markdown')
    .option('--json', 'a report for programs')
    .addHelpText(
      'after',
      () => `\nPasses:\n${passes.map(({ name, says }) => `  ${name.padEnd(12)}${says}`).join('\n')}`,
    )
    .action(run)
}

async function run(trace: string, { json, ...flags }: CompareFlags): Promise<void> {
  const { runCompare } = await import('./run-compare.ts')
  const { renderComparison } = await import('./render-comparison.ts')
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  const comparison = await runCompare(trace, {
    ...flags,
    engineKey: process.env.REPRISE_ENGINE_API_KEY || undefined,
    signal: ending.signal,
    wait: (milliseconds) => delay(milliseconds, undefined, { signal: ending.signal }),
  })
  process.stdout.write(json ? `${JSON.stringify(comparison)}\n` : renderComparison(comparison))
}

function readPasses(text: string): PassName[] {
  return text.split(',').map((name) => {
    const known = passNames.find((pass) => pass === name.trim())
    if (known) return known
    throw new InvalidArgumentError(`'${name}' is none of ${passNames.join(', ')}.`)
  })
}
