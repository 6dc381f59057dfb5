import { describe, expect, it } from 'vitest'
import { contentsOf } from '../forms/found-lists.fixture.ts'

const list = '[1] The Amazon rises in the mountains of Peru.\n[2] The Nile flows through eleven countries.'
const blocks = ['The Amazon rises in the mountains of Peru.', 'The Nile flows through eleven countries.']

// how templates write one turn, and the beginning of the answer
const templates: [string, (said: string) => string, (said: string) => string][] = [
  ['ChatML', (said) => `<|im_start|>user\n${said}<|im_end|>\n`, (said) => `<|im_start|>assistant\n${said}<|im_end|>\n`],
  [
    'Llama 3',
    (said) => `<|start_header_id|>user<|end_header_id|>\n\n${said}<|eot_id|>`,
    (said) => `<|start_header_id|>assistant<|end_header_id|>\n\n${said}<|eot_id|>`,
  ],
  [
    'Llama 4',
    (said) => `<|header_start|>user<|header_end|>\n\n${said}<|eot|>`,
    (said) => `<|header_start|>assistant<|header_end|>\n\n${said}<|eot|>`,
  ],
  ['Mistral', (said) => `<s>[INST] ${said} [/INST]\n`, (said) => `${said}</s>`],
  [
    'Gemma',
    (said) => `<start_of_turn>user\n${said}<end_of_turn>\n`,
    (said) => `<start_of_turn>model\n${said}<end_of_turn>\n`,
  ],
  ['DeepSeek', (said) => `<｜User｜>${said}`, (said) => `<｜Assistant｜>\n${said}<｜end▁of▁sentence｜>`],
  ['Phi', (said) => `<|user|>\n${said}<|end|>\n`, (said) => `<|assistant|>\n${said}<|end|>\n`],
  ['Zephyr', (said) => `<|user|>\n${said}</s>\n`, (said) => `<|assistant|>\n${said}</s>\n`],
  [
    'gpt-oss',
    (said) => `<|start|>user<|message|>\n${said}<|end|>`,
    (said) => `<|start|>assistant<|channel|>final<|message|>\n${said}<|end|>`,
  ],
  [
    'Granite',
    (said) => `<|start_of_role|>user<|end_of_role|>\n${said}<|end_of_text|>\n`,
    (said) => `<|start_of_role|>assistant<|end_of_role|>\n${said}<|end_of_text|>\n`,
  ],
  [
    'Command R',
    (said) => `<|START_OF_TURN_TOKEN|><|USER_TOKEN|>\n${said}<|END_OF_TURN_TOKEN|>`,
    (said) => `<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>\n${said}<|END_OF_TURN_TOKEN|>`,
  ],
]

describe.each(templates)('in a prompt that the client rendered for %s', (_, user, assistant) => {
  it('nothing is found in what the assistant said', () => {
    expect(contentsOf(user('hi') + assistant(list) + user('more') + assistant(''), { rendered: true })).toEqual([])
  })

  it('what the user gave is found in front of an answer and behind it', () => {
    const given = user(`Context:\n${list}\n\nQuestion: which?`)
    expect(contentsOf(given + assistant(list) + given + assistant(''), { rendered: true })).toEqual([blocks, blocks])
  })
})

it('what tools said in the middle of an answer is not the end of it', () => {
  const text = `<｜User｜>hi<｜Assistant｜><｜tool▁calls▁begin｜>f<｜tool▁calls▁end｜><｜tool▁outputs▁begin｜>x<｜tool▁outputs▁end｜>\n${list}`
  expect(contentsOf(text, { rendered: true })).toEqual([])
})

it.each(['[INST]', '[/INST]', '<|im_start|>', '<|endoftext|>', '<start_of_turn>model'])(
  'in a message of a chat, %s in a document is a word of it',
  (mark) => {
    const document = `ChatML and Llama 2 mark a turn by ${mark} and others, which tokenizers know.`
    expect(contentsOf(`[1] ${blocks[0]}\n[2] ${document}\n\nQuestion: what marks a turn?`)).toEqual([
      [blocks[0], document],
    ])
  },
)
