import { inject } from 'vitest'
import { describeDeployed } from './describe-deployed.ts'
import { testReuse } from './reuse.contract.ts'
import { reusingVllmEngine } from './vllm-engine.ts'

describeDeployed('vLLM', reusingVllmEngine, inject('vllm'), testReuse)
