import { afterAll, beforeAll, describe } from 'vitest'
import { Deployment } from './deployment.ts'
import type { EngineSpec } from './engine.ts'
import type { Setup } from './set-up-engines.ts'

/** Tests of a deployment that `deployed` returns once it runs. */
export type DeployedTests = (deployed: () => Deployment, python: string) => void

/** Starts one engine behind a proxy, told by callbacks, and runs tests against it one after the other. */
export function describeDeployed(title: string, spec: EngineSpec, setup: Setup, ...suites: DeployedTests[]): void {
  describe.skipIf('missing' in setup)(title, () => {
    let deployment: Deployment | undefined
    beforeAll(async () => {
      if ('missing' in setup) return
      deployment = await Deployment.start(spec, 'callbacks', setup)
    })
    afterAll(() => deployment?.close())
    for (const suite of suites) suite(() => deployment!, 'missing' in setup ? '' : setup.python)
  })
}
