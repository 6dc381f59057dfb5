import { toArray, toObject } from './json-value.ts'

type Members = Readonly<Record<string, unknown>>

// of OpenAI, vLLM, SGLang, llama.cpp and Anthropic
const constraints = [
  'guided_json',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'structured_outputs',
  'structural_tag',
  'json_schema',
  'regex',
  'ebnf',
  'grammar',
  'output_format',
]

/**
 * Whether a request asks for an answer that a program reads, by constraint or because the prompt ends inside JSON or
 * code. Numbers in such an answer are data.
 */
export function asksForData(members: Members): boolean {
  const { response_format: format, text, output_config: config, sampling_params: sampling } = members
  const formats = [format, toObject(text).format, toObject(config).format]
  if (formats.some((value) => isSet(value) && toObject(value).type !== 'text')) return true
  const constrained = [members, ...toArray(sampling).map(toObject), toObject(sampling)]
  if (constrained.some((values) => constraints.some((name) => isSet(values[name])))) return true
  return beginnings(members).some((beginning) => /[{[]\s*$|^\s*[{[]["{[\s]|```[\w-]+\r?\n?$/.test(beginning))
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== ''
}

/** Returns what the answer continues: the end of a plain prompt, or the beginning in a final assistant message. */
function beginnings({ messages, prompt, text }: Members): string[] {
  const last = toObject(toArray(messages).at(-1))
  const parts =
    last.role === 'assistant' ? [last.content, ...toArray(last.content).map((part) => toObject(part).text)] : []
  const begun = parts.filter((part) => typeof part === 'string')
  const plain = [prompt, text].flatMap((value) => (Array.isArray(value) ? value : [value]))
  const ends = plain.filter((value) => typeof value === 'string').map((value) => `…${value.slice(-lengthOfEnd)}`)
  return [...begun, ...ends]
}

const lengthOfEnd = 64
