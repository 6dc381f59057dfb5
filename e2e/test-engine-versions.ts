import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { Children } from './demo/children.ts'
import { setupVllmTests } from './demo/vllm/setup-vllm.ts'
import { parallelPytest, parallelPytestEnv } from './parallel-pytest.ts'
import { setUpSglang } from './set-up-sglang.ts'

/*
 * `npm run test:engine-versions -- vllm 0.33.0 [TESTS…]`: runs a plugin's tests over the Python of another version of its
 * engine, laid over the installed CPU build and its compiled parts. First come names and signatures, which take a minute.
 * What the new Python needs of new kernels or packages cannot be tested so.
 */

const [engine, version = '', ...chosen] = process.argv.slice(2)
const children = new Children()

if ((engine !== 'vllm' && engine !== 'sglang') || !/^[\w.]+$/.test(version)) {
  process.stderr.write('usage: npm run test:engine-versions -- vllm|sglang VERSION [TESTS…]\n')
  process.exit(2)
}
const installed = engine === 'vllm' ? await setupVllmTests(children) : { ...setUpSglang(), packages: undefined }
const environment = dirname(dirname(installed.python))
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reprise', 'engine-versions')
const folder = join(cache, `${engine}-${version}`)
if (!existsSync(folder)) await layOver()

process.chdir(join(import.meta.dirname, '..', 'engine-adapters', engine, 'plugin'))
const path = [folder, installed.packages ?? []].flat().join(delimiter)
const env = { ...parallelPytestEnv, HF_HUB_OFFLINE: '1', PYTHONPATH: path }
const suites = chosen.length > 0 ? [chosen] : [['tests/test_engine_use.py'], ['tests']]
for (const tests of suites) {
  await children.run(installed.python, parallelPytest(...tests), env).catch((error) => {
    process.stderr.write(`${engine} ${version}: ${error.message}\n`)
    process.exitCode = 1
  })
}

/** Downloads the engine without its dependencies, and gives it the compiled parts of the installed CPU build. */
async function layOver(): Promise<void> {
  const made = `${folder}.part`
  await rm(made, { recursive: true, force: true })
  await mkdir(cache, { recursive: true })
  const own = join(dirname(environment), 'uv', 'bin', 'uv')
  const options = ['--no-deps', '--compile-bytecode', '--python', installed.python, '--target', made]
  await children.run(existsSync(own) ? own : 'uv', ['pip', 'install', '--quiet', ...options, `${engine}==${version}`])
  // SGLang's compiled parts are in its wheel, and run on a CPU
  if (engine === 'vllm') {
    for (const file of await compiledIn(join(made, engine))) await rm(file)
    const base = join(await sitePackages(), engine)
    for (const file of await compiledIn(base)) await symlink(file, join(made, engine, relative(base, file)))
    // vLLM chooses the CPU by the word in its version
    const info = join(made, `vllm-${version}.dist-info`)
    const metadata = await readFile(join(info, 'METADATA'), 'utf8')
    await writeFile(join(info, 'METADATA'), metadata.replace(/^Version: .*$/m, `Version: ${version}+cpu`))
    await rename(info, join(made, `vllm-${version}+cpu.dist-info`))
  }
  await rename(made, folder)
}

async function compiledIn(root: string): Promise<string[]> {
  const files = await readdir(root, { recursive: true })
  return files.filter((file) => file.endsWith('.so')).map((file) => join(root, file))
}

async function sitePackages(): Promise<string> {
  const python = (await readdir(join(environment, 'lib'))).find((name) => name.startsWith('python'))
  return join(environment, 'lib', python!, 'site-packages')
}
