import { inject } from 'vitest'
import { describeDeployed } from './describe-deployed.ts'
import { testReuseFaults } from './reuse-faults.contract.ts'
import { spillingSglangEngine } from './sglang-engine.ts'

describeDeployed('SGLang', spillingSglangEngine, inject('sglang'), testReuseFaults)
