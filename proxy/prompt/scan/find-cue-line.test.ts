import { describe, expect, it } from 'vitest'
import { readCue } from './find-cue-line.ts'

describe('readCue', () => {
  // words that begin inside, or behind, an optional group of the pattern
  it.each([
    'Question:',
    '## your new question:',
    'Now here is the query:',
    '[Question]',
    '[User question]:',
    '【用户问题】',
    '[사용자 질문]',
    "Here's the user's question 2:",
    'aquí está mi pregunta:',
    '**FRAGE**',
    '질문：',
    'answer the user',
    'Please, answer.',
    'now, please give your final answer',
    'reply, using them',
    'Basierend auf Grundlage der Texte',
    'auf Basis des Textes',
    'beantworte das',
    'According to only the sources',
    'the above are the retrieved texts',
    'chat history:',
    'conversation history:',
    'Instrucciones de respuesta:',
    'istruzioni:',
    'output requirements:',
    '以上是知识',
    '请回答',
    '回答のルール：',
    // this letter is an s, ignoring case
    'reſponse:',
  ])('reads %s', (line) => {
    expect(readCue(line, 0)).toBeDefined()
  })

  it('reads a cue after any signs, and text as none', () => {
    expect(readCue('text\n\t### __Question:', 5)).toMatchObject({ kind: 'question', question: true })
    expect(readCue('Questions of law are left to the court', 0)).toBeUndefined()
    expect(readCue('', 0)).toBeUndefined()
    expect(readCue('[Question 3](http://h/q)', 0)).toBeUndefined()
    expect(readCue('[Answers to all] of them', 0)).toBeUndefined()
  })
})
