import { describe, expect, it } from 'vitest'
import { judgeWords } from '../judge-words.ts'

const list = { blocks: 5, labels: ['1', '2', '3', '4', '5'], prefix: '', isPositional: false, isLabelled: true }
const isOrdered = (words: string): boolean => judgeWords(words, list) !== undefined

describe('an answer follows the order of the texts', () => {
  it.each([
    'Proofread.',
    'Continue the list with one more.',
    'Reverse the list.',
    'Number the statements.',
    'Return the texts with typos corrected.',
    'Retell everything.',
    'Return {"doc": n, "answer": str} where n counts documents from 1.',
    'Answer as {"doc_1": "…", "doc_2": "…"}.',
    '表で出典も。',
    'Fix the typos.',
    'Cite what you use. Proofread everything above.',
    'Repeat the text above verbatim.',
    'Translate into German:',
    'Please translate everything above.',
    'Rank these by quality.',
    'Sort these by length.',
    'Renumber these.',
    'Swap 1 and 2.',
    'Is the ranking right?',
    'Is there a better order for these?',
    'What is the third about?',
    'Open the first link.',
    'Summarise the top two.',
    'Write the next one.',
    'One sentence each, please.',
    'Output a JSON array of summaries.',
    'Classify the sentiment of the following documents.',
    'Übersetze ins Englische.',
    'Korrigiere die Fehler.',
    'Sortiere sie.',
    'Was steht in der letzten?',
    'Was kommt nach der Keynote?',
    'Traduis en anglais.',
    'Classe-les par qualité.',
    'Que dit le dernier ?',
    'Ouvre le premier lien.',
    'Traduce al inglés.',
    '¿Qué dice el último?',
    'Cosa dice il secondo?',
    'Переведи на английский.',
    'Что сказано во втором?',
    '翻译成英文。',
    '总结前两个。',
    '英訳して。',
    '最初のリンクを開いて。',
    '영어로 번역해줘.',
  ])('%s', (words) => expect(isOrdered(words)).toBe(true))
})

describe('an answer is of its own', () => {
  it.each([
    'Translate your answer into German.',
    'Rewrite the question if it is unclear.',
    'Answer in the language of the user. Translate the answer if necessary.',
    'Correct answers only.',
    'Order 1231 has not arrived: why?',
    'Format: short sentences.',
    'Format your response as Markdown.',
    'Repeat the question before you answer.',
    'Fix the problem that the user has.',
    'Copy is a verb: what does it mean?',
    'Who was the first president?',
    'What is the last name of the author?',
    'Quote sources at the end of your answer.',
    'Übersetze deine Antwort ins Englische.',
    'Traduis ta réponse en anglais.',
    'Which city is the capital of the country?',
    'Sort out what happened in 1911.',
    '请用中文回答。',
  ])('%s', (words) => expect(isOrdered(words)).toBe(false))
})
