import { describeOrderingIndex } from '#index/ordering/ordering-index.contract.ts'
import { PaperOrdering } from './paper-ordering.ts'

describeOrderingIndex('PaperOrdering', () => new PaperOrdering())
