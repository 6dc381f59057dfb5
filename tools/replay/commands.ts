import { type Command, InvalidArgumentError, Option } from 'commander'
import { atLeast, readCapacity } from '#proxy/config/read-arguments.ts'
import { type PolicyName, policyNames } from './policies/policy.ts'
import { replayDefaults as defaults, type GivenReplayOptions, modes } from './replay-options.ts'

/** Adds `replay` and `plan`. Their dependencies are loaded when they run, so that other commands start quickly. */
export function addReplayCommands(program: Command): void {
  program
    .command('replay')
    .description('runs a trace through ordering policies and a simulated prefix cache')
    .argument(
      '<trace>',
      'a folder with queries, turns or questions and blocks (.jsonl, .jsonl.gz), or the first of these',
    )
    .option('--policy <names>', `among ${policyNames.join(', ')}`, readPolicies, ['rank', 'sorted', 'paper', 'reprise'])
    .addOption(new Option('--mode <mode>', 'one by one, or as one batch').choices(modes).default(defaults.mode))
    .addOption(
      new Option('--capacity-tokens <n>', "cache size, or 'unlimited'")
        .argParser(readCapacity)
        .default(undefined, 'that of the recorded engine, otherwise unlimited'),
    )
    .option(
      '--page-tokens <n>',
      'tokens per page of the cache; 1 for one that shares tokens, as SGLang has it',
      atLeast(1),
      defaults.pageTokens,
    )
    .option('--system-tokens <n>', 'tokens before the blocks, equal in all prompts', atLeast(0), defaults.systemTokens)
    .option(
      '--question-tokens <n>',
      'tokens after the blocks, different in all prompts',
      atLeast(0),
      defaults.questionTokens,
    )
    .option('--limit <n>', 'only the first requests', atLeast(1))
    .option('--json', 'a report for programs')
    .option('--orders <file>', 'write the order of every request under every policy')
    .option('--plot <file.svg>', 'draw hit ratios by cache size')
    .action(runReplay)
  program
    .command('plan')
    .description('orders and schedules a batch of contexts')
    .argument('<contexts>', 'a trace, or a file of requests; blocks of unknown size count one token')
    .option('--out <file>', 'write the plan here instead of to the standard output')
    .action(runPlan)
}

async function runReplay(trace: string, options: GivenReplayOptions): Promise<void> {
  const { replay } = await import('./replay.ts')
  const report = await replay(trace, options, tell)
  if (options.json) {
    process.stdout.write(`${JSON.stringify(report)}\n`)
    return
  }
  const { renderReport } = await import('./report/replay-report.ts')
  process.stdout.write(renderReport(report))
}

async function runPlan(contexts: string, { out }: { out?: string }): Promise<void> {
  const { checkOutputs, writeFileAtOnce } = await import('./report/write-file-at-once.ts')
  if (out !== undefined) checkOutputs([out], contexts)
  const { plan } = await import('./replay.ts')
  const lines = await plan(contexts, tell)
  if (out === undefined) process.stdout.write(lines.join(''))
  else writeFileAtOnce(out, lines)
}

function tell(note: string): void {
  process.stderr.write(`${note}\n`)
}

function readPolicies(text: string): PolicyName[] {
  const names = text.split(',').map((name) => name.trim())
  for (const name of names) {
    if (!policyNames.includes(name as PolicyName)) {
      throw new InvalidArgumentError(`'${name}' is no policy: choose of ${policyNames.join(', ')}.`)
    }
  }
  return [...new Set(names)] as PolicyName[]
}
