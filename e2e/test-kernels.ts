import { execFileSync } from 'node:child_process'
import { Children } from './demo/children.ts'
import { DemoError } from './demo/demo-error.ts'
import { parallelPytest, parallelPytestEnv } from './parallel-pytest.ts'

/*
 * `npm run test:kernels` and `npm run test:lab`: lints and tests the kernels of the folder given. Makes their
 * environment once, outside the checkout. Without a GPU, the kernels run under Triton's interpreter and, in `lab/`, are
 * compiled for absent GPUs.
 */

const folder = process.argv[2] ?? 'kernels'
const children = new Children()
const env = { ...parallelPytestEnv, RUFF_NO_CACHE: 'true' }

/** Makes the environment and returns its Python. Throws a DemoError that says what to do if it cannot be made. */
function setUp(): string {
  try {
    const lines = execFileSync('kernels/tests/setup.sh', { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
    return lines.trim().split('\n').at(-1)!
  } catch {
    throw new DemoError(
      'the kernels were not tested: setup.sh failed as said above; mend that, then run `npm run test:kernels`',
    )
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

try {
  const python = setUp()
  say(`testing ${folder}`)
  await children.run(python, ['-m', 'ruff', 'check', '-q', folder], env)
  await children.run(python, ['-m', 'ruff', 'format', '-q', '--check', folder], env)
  await children.run(python, parallelPytest(folder), env)
} catch (error) {
  say((error as Error).message)
  process.exitCode = 1
}
