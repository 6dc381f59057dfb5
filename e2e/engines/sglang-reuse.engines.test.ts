import { inject } from 'vitest'
import { describeDeployed } from './describe-deployed.ts'
import { testReuse } from './reuse.contract.ts'
import { reusingSglangEngine } from './sglang-engine.ts'

describeDeployed('SGLang', reusingSglangEngine, inject('sglang'), testReuse)
