import { createKnown } from './chunk-texts.fixture.ts'
import { describeKnownChunks } from './known-chunks.contract.ts'

describeKnownChunks('known chunks in memory', () => {
  const chunks = createKnown()
  return { told: chunks, seen: chunks, settle: () => Promise.resolve() }
})
