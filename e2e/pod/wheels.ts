import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../chart/tools/tool-path.ts'

const sources = ['engine-adapters/vllm/plugin', 'engine-adapters/sglang/plugin']

/** Builds the plugins' wheels into `folder`/plugins, as in the plugin image. Returns that folder. */
export function buildWheels(folder: string): string {
  const copy = join(folder, 'sources')
  // works on copies, because a build writes next to its sources
  for (const path of [...sources, 'engine-adapters/python']) {
    cpSync(join(root, path), join(copy, path), { recursive: true })
  }
  const wheels = join(folder, 'plugins')
  mkdirSync(wheels)
  const paths = sources.map((path) => join(copy, path))
  execFileSync('python3', ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', wheels, ...paths], {
    stdio: 'pipe',
  })
  return wheels
}
