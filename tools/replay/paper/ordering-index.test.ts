import { describeOrderingIndex } from '#index/ordering/ordering-index.contract.ts'
import { ContextIndex } from './context-index.ts'

describeOrderingIndex('ContextIndex', () => new ContextIndex())
