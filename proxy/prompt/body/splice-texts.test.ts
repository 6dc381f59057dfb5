import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson } from './prompt-body.fixture.ts'
import { writeBody } from './prompt-body.ts'
import { spliceTexts } from './splice-texts.ts'
import { type Piece, spliceText, type TextSplice } from './text-splice.ts'

// every way in which JSON may write a character, and every length in UTF-8
const unit = fc.constantFrom('a', '\n', '"', '\\', '/', 'é', '€', '😀', '\ud83d', '\ude00', '\u0001', '文')
const someText = fc.array(unit, { maxLength: 30 }).map((units) => units.join(''))

/** Writes a text as a JSON string, each character in one of the permitted ways. */
const writeJson = (text: string, ways: readonly number[]): string => {
  const units = [...text].map((character, i) => {
    const plain = JSON.stringify(character).slice(1, -1)
    if (ways[i % ways.length] === 0) return plain
    return [...Array(character.length).keys()]
      .map((k) => `\\u${character.charCodeAt(k).toString(16).padStart(4, '0')}`)
      .join('')
  })
  return `"${units.join('')}"`
}

interface Case {
  readonly json: string
  readonly texts: readonly string[]
  readonly splices: readonly (readonly TextSplice[])[]
}

const someCase: fc.Arbitrary<Case> = fc
  .tuple(fc.array(someText, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(1), { minLength: 1 }))
  .chain(([texts, ways]) => {
    const cut = fc.nat(texts.length - 1).chain((text) =>
      fc.tuple(fc.nat(texts[text]!.length), fc.nat(texts[text]!.length)).map(([a, b]) => {
        return { text, start: Math.min(a, b), end: Math.max(a, b) }
      }),
    )
    const pieces: fc.Arbitrary<Piece[]> = fc.array(fc.oneof(cut, someText), { maxLength: 4 })
    const splicesOf = (text: string): fc.Arbitrary<TextSplice[]> =>
      fc.array(fc.tuple(fc.nat(text.length), pieces), { maxLength: 3 }).map((edges) => {
        edges.sort(([a], [b]) => a - b)
        return edges.map(([start, own], i) => {
          const end = i % 2 === 0 ? (edges[i + 1]?.[0] ?? text.length) : start
          return { start, end, pieces: own }
        })
      })
    const messages = texts.map((text) => `{"role":"user","content":${writeJson(text, ways)}}`)
    // long bodies are spliced as bytes
    const rest = fc.constantFrom('', '"padding"', `"${'x'.repeat(9_000)}"`, `"${'é'.repeat(9_000)}"`)
    return fc.record({
      json: rest.map(
        (padding) => `{"n":1.0,"messages":[${messages.join(',')}],${padding && `"p":${padding},`}"z":"é"}`,
      ),
      texts: fc.constant(texts),
      splices: fc.tuple(...texts.map(splicesOf)),
    })
  })

test('the texts of a body read as they were spliced, however it is written', () => {
  fc.assert(
    fc.property(someCase, ({ json, texts, splices }) => {
      const prompt = readJson('chat_completions', json)!
      expect(prompt.set!.texts.map(({ text }) => text)).toEqual(texts)
      const written = writeBody(prompt, spliceTexts(prompt, { texts, splices })).toString()
      const contents = JSON.parse(written).messages.map(({ content }: { content: string }) => content)
      expect(contents).toEqual(texts.map((_, place) => spliceText(texts, place, splices[place]!)))
      expect(written).toMatch(/^\{"n":1\.0,.*,"z":"é"\}$/)
    }),
    { numRuns: 500 },
  )
})

test('what moves keeps the escapes it was written with', () => {
  const json = String.raw`{"messages":[{"role":"user","content":"caf\u00e9 \/ é|b"}]}`
  const prompt = readJson('chat_completions', json)!
  const texts = ['café / é|b']
  const moved = [{ start: 0, end: 10, pieces: [{ text: 0, start: 9, end: 10 }, '\n', { text: 0, start: 0, end: 8 }] }]
  const written = writeBody(prompt, spliceTexts(prompt, { texts, splices: [moved] })).toString()
  expect(written).toBe(String.raw`{"messages":[{"role":"user","content":"b\ncaf\u00e9 \/ é"}]}`)
})

test('what is put back as it was is no splice', () => {
  const prompt = readJson('chat_completions', '{"messages":[{"role":"user","content":"abab"}]}')!
  const swapped = [{ start: 0, end: 4, pieces: [2, 0].map((start) => ({ text: 0, start, end: start + 2 })) }]
  expect(spliceTexts(prompt, { texts: ['abab'], splices: [swapped] })).toEqual([])
})
