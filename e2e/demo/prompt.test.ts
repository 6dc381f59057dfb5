import { describe, expect, it } from 'vitest'
import { toUserMessage } from './prompt.ts'

describe('toUserMessage', () => {
  it('numbers the documents, names their sources and asks the question last', () => {
    const blocks = [
      { id: 'a', text: 'first\n\ntext' },
      { id: 'b"&', text: 'second' },
    ]
    expect(toUserMessage({ blocks, question: 'Why?' }).content).toBe(
      '<documents>\n<document index="1" source="a">\nfirst\n\ntext\n</document>\n' +
        '<document index="2" source="b&quot;&amp;">\nsecond\n</document>\n</documents>\n\nQuestion: Why?',
    )
  })

  it('leaves the documents out where there are none', () => {
    expect(toUserMessage({ blocks: [], question: 'Why?' }).content).toBe('Question: Why?')
  })
})
