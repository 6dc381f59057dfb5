import { describeOrderingIndex } from './ordering-index.contract.ts'
import { PaperOrdering } from './paper-ordering.ts'

describeOrderingIndex('PaperOrdering', () => new PaperOrdering())
