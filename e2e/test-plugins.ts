import { delimiter } from 'node:path'
import { Children } from './demo/children.ts'
import { setupVllmTests } from './demo/vllm/setup-vllm.ts'
import { parallelPytest, parallelPytestEnv } from './parallel-pytest.ts'
import { setUpSglang } from './set-up-sglang.ts'

/*
 * `npm run test:plugins`: tests the plugins against the engines' own code. Makes an environment for each engine once,
 * outside the checkout. If an engine cannot be set up here, says so and skips its tests.
 */

const children = new Children()
const plain = { ...parallelPytestEnv, HF_HUB_OFFLINE: '1' }

/** Runs the tests of each folder in a separate process, even if an earlier one fails. */
async function test(python: string, folders: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  for (const folder of folders) {
    say(`testing ${folder}`)
    await children.run(python, parallelPytest(folder), env).catch(fail)
  }
}

async function orSkip<T>(engine: string, setUp: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await setUp()
  } catch (error) {
    say(`SKIPPED the tests of the ${engine} plugin: ${engine} cannot be set up: ${(error as Error).message}`)
    return undefined
  }
}

function fail(error: Error): void {
  say(error.message)
  process.exitCode = 1
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

try {
  const vllm = await orSkip('vLLM', () => setupVllmTests(children))
  if (vllm) {
    const env = { ...plain, PYTHONPATH: [vllm.packages, process.env.PYTHONPATH ?? []].flat().join(delimiter) }
    await test(vllm.python, ['engine-adapters/python', 'engine-adapters/vllm/plugin'], env)
  }
  const sglang = await orSkip('SGLang', setUpSglang)
  if (sglang) await test(sglang.python, ['engine-adapters/sglang/plugin/tests'], plain)
} catch (error) {
  fail(error as Error)
}
