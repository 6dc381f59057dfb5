import { inject } from 'vitest'
import { describeDeployed } from './describe-deployed.ts'
import { testReuseFaults } from './reuse-faults.contract.ts'
import { spillingVllmEngine } from './vllm-engine.ts'

describeDeployed('vLLM', spillingVllmEngine, inject('vllm'), testReuseFaults)
