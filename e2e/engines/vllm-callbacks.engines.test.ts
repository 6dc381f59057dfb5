import { inject } from 'vitest'
import { describeExactMirror } from './exact-mirror.contract.ts'
import { vllmEngine } from './vllm-engine.ts'

describeExactMirror(vllmEngine, 'callbacks', inject('vllm'))
