import { describe, expect, it } from 'vitest'
import { packSections } from './pack-sections.ts'

const countWords = (text: string): number => text.split(/\s+/).filter(Boolean).length
const words = (count: number): string => Array.from({ length: count }, (_, at) => `w${at}`).join(' ')

describe('packSections', () => {
  it('merges small neighbours under the first heading', () => {
    const parts = [
      { headings: ['A'], paragraphs: [words(60)] },
      { headings: ['A', 'B'], paragraphs: [words(80)] },
    ]
    expect(packSections(parts, countWords)).toEqual([{ headings: ['A'], paragraphs: [words(60), words(80)] }])
  })

  it('leaves sections of a fair size alone', () => {
    const parts = [300, 200].map((size) => ({ headings: ['A'], paragraphs: [words(size)] }))
    expect(packSections(parts, countWords)).toEqual(parts)
  })

  it('splits a long part between paragraphs into pieces of about equal size', () => {
    const paragraphs = Array.from({ length: 8 }, () => words(100))
    const sections = packSections([{ headings: ['A'], paragraphs }], countWords)
    expect(sections.map((section) => section.paragraphs.length)).toEqual([4, 4])
  })

  it('keeps a heading with the long example under it', () => {
    const paragraphs = ['# A', words(900), words(200)]
    const [first] = packSections([{ headings: ['A'], paragraphs }], countWords)
    expect(first?.paragraphs).toEqual(['# A', words(900)])
  })

  it('loses and repeats nothing', () => {
    const parts = [20, 500, 1500, 90, 10].map((size, at) => ({
      headings: [`H${at}`],
      paragraphs: Array.from({ length: Math.ceil(size / 70) }, (_, n) => `p${at}.${n} ${words(69)}`),
    }))
    const packed = packSections(parts, countWords).flatMap((section) => section.paragraphs)
    expect(packed).toEqual(parts.flatMap((part) => part.paragraphs))
  })
})
