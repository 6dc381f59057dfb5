import { inject } from 'vitest'
import { describeExactMirror } from './exact-mirror.contract.ts'
import { sglangEngine } from './sglang-engine.ts'

describeExactMirror(sglangEngine, 'kv-events', inject('sglang'))
