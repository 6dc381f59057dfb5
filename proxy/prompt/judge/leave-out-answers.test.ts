import { describe, expect, it } from 'vitest'
import { findContextLists } from '../forms/found-lists.fixture.ts'
import { leaveOutAnswers } from './leave-out-answers.ts'

const list = '[Doc_1] The Amazon rises in the mountains of Peru.\n[Doc_2] The Nile flows through eleven countries.'
const count = (text: string): number => leaveOutAnswers(text, findContextLists(text)).length

describe('a list', () => {
  it.each([
    ['Human and Assistant', `Human: list\nAssistant:\n${list}\nHuman: more`],
    [
      'Human and Assistant, as Claude was prompted',
      `\n\nHuman: list\n\nAssistant: Here:\n\n${list}\n\nHuman: more\n\nAssistant:`,
    ],
    ['Human and AI', `Chat history:\nHuman: list\nAI: these:\n${list}\n\nHuman: more`],
    ['USER and ASSISTANT', `USER: list ASSISTANT: these sources:\n${list}</s>USER: more ASSISTANT:`],
    ['Alpaca', `### Instruction:\nlist\n\n### Response:\n${list}\n\n### Instruction:\nmore\n\n### Response:\n`],
  ])('that the assistant gave is left out: %s', (_, text) => {
    expect(findContextLists(text).length).toBeGreaterThan(0)
    expect(count(text)).toBe(0)
  })

  it.each([
    ['in the first turn', `Human: Use:\n\n${list}\n\nWhich?\n\nAssistant:`],
    ['behind an answer', `Human: hi\n\nAssistant: hello\n\nHuman: Use:\n\n${list}\n\nWhich?\n\nAssistant:`],
    ['below instructions', `### Instruction:\nAnswer.\n\n### Input:\n${list}\n\n### Response:\n`],
    ['without turns', `Context:\n${list}\n\nQuestion: Which?`],
    [
      'of documents that hold a talk',
      `[1] Human: hi\nAssistant: hello\n[2] Human: bye\nAssistant: bye\n\nQuestion: Who?`,
    ],
    [
      'of documents one of which tells of an Assistant: of yore',
      `[1] Assistant: Ann Lee\n[2] Director: Bo\n\nQuestion: Who?`,
    ],
  ])('that the assistant was given is kept: %s', (_, text) => {
    expect(count(text)).toBe(1)
  })

  it.each([
    ['the next speaker', `Human: Use:\n${list}\nAI: x\nHuman: y\nAI:`],
    ['the opening of the answer', `USER: Use these sources:\n${list} ASSISTANT:`],
  ])('whose last block holds %s is left out', (_, text) => {
    expect(findContextLists(text)).toHaveLength(1)
    expect(count(text)).toBe(0)
  })
})

it('what only looks like speakers is read in linear time', () => {
  for (const part of ['Assistant:', 'bot: ', '\nAI:\n', '[1] AI:\n[2] User:\n\nQuestion:\n'])
    count(part.repeat(500_000))
  // in quadratic time, this would exceed the test timeout
})
