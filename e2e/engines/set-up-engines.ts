import type { TestProject } from 'vitest/node'
import { Children } from '../demo/children.ts'
import { setupVllmTestModel } from '../demo/vllm/setup-vllm.ts'
import { setUpSglang } from '../set-up-sglang.ts'
import type { EngineInstallation } from './engine.ts'

/** An installed engine, or why it is missing. */
export type Setup = EngineInstallation | { readonly missing: string }

declare module 'vitest' {
  interface ProvidedContext {
    vllm: Setup
    sglang: Setup
  }
}

/** Makes an environment for each engine once, outside the checkout; if it fails, records why. */
export default async function setUpEngines(project: TestProject): Promise<void> {
  const children = new Children()
  project.provide('vllm', await orMissing('vLLM', () => setupVllmTestModel(children)))
  project.provide('sglang', await orMissing('SGLang', setUpSglang))
}

async function orMissing(engine: string, setUp: () => Setup | Promise<Setup>): Promise<Setup> {
  try {
    return await setUp()
  } catch (error) {
    const missing = (error as Error).message.trim().split('\n').at(-1)!
    process.stderr.write(`SKIPPED the tests with ${engine}: it cannot be set up: ${missing}\n`)
    return { missing }
  }
}
