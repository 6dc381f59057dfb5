import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { toArray, toObject } from '../../common/json/json-value.ts'
import { asksForName, asksForValues, beginsAnswer } from './prompt-end.ts'

/** What the members of a request forbid, whatever its texts say. */
export interface Demands {
  /** why nothing at all is rewritten: the caller measures or cuts the prompt, or media belong to places in it */
  readonly asReceived: 'measured' | 'media' | undefined
  /** the answer is asked for or begun as data or code (`asksForData`) */
  readonly isDataAsked: boolean
  /** the numbers of documents may come back where nobody maps them: in data, tool calls, stored, cut or very short answers */
  readonly areNumbersData: boolean
  /** the answer is data that can hold a value for each document, in their order, or a tool's call with a place */
  readonly isOrderData: boolean
  /** how many pictures, sounds and videos are part of the messages */
  readonly media: number
}

/** Reads what the members of a request's body forbid. */
export function readDemands(api: PromptApi, members: Members): Demands {
  const isDataAsked = asksForData(members)
  const isData = isDataAsked || isForced(members)
  return {
    isDataAsked,
    asReceived: isMeasured(members) ? 'measured' : isTiedToMedia(members) ? 'media' : undefined,
    areNumbersData:
      isData ||
      isCalling(members) ||
      isStored(api, members) ||
      isShort(members) ||
      isCut(members) ||
      showsTokens(members),
    isOrderData: (isData && mayAlign(members)) || takesPlace(members) || endsOf(members).some(asksForValues),
    media: countMedia(members),
  }
}

/** Whether the answer is kept by the engine, which returns it later as the model wrote it, or continues such an answer. */
function isStored(api: PromptApi, members: Members): boolean {
  const { store, background, previous_response_id: previous, conversation } = members
  if (isSet(background) || isSet(previous) || isSet(conversation)) return true
  // responses are stored unless they say otherwise
  return api === 'responses' ? store !== false : store === true
}

/** An answer of so few tokens is a name, a label or a number. */
const shortAnswer = 4
const LIMIT = /^max_(?:completion_|output_|new_)?tokens$/

function isShort(members: Members): boolean {
  return valuesOf(members, LIMIT).some((limit) => typeof limit === 'number' && limit <= shortAnswer)
}

/** What ends within a citation: a few signs, with a digit or a closing bracket. */
const SIGN = /^(?=.{1,8}$)[^\p{L}\n]*[\d\])}】）][^\p{L}\n]*$/su

/**
 * Whether the answer begins within a sentence that the caller has begun, or ends within a citation or in front of a text
 * that the caller gives: what is left of a citation there cannot be recognised.
 */
function isCut(members: Members): boolean {
  const last = lastMessage(members)
  if ((last.role === 'assistant' && isSet(last.content)) || isSet(members.suffix)) return true
  const plain = [members.prompt, members.text].flat()
  if (plain.some(beginsAnswer) || endsOf(members).some(asksForName)) return true
  const ends = valuesOf(members, /^stop(?:_sequences)?$/).flat()
  return ends.some((end) => typeof end === 'string' && SIGN.test(end))
}

/**
 * Whether alternatives to the answer's tokens are returned, or places in its text. The probabilities of the answer itself
 * (`logprobs: true`) say how sure a model is, and nobody reads numbers from them.
 */
function showsTokens(members: Members): boolean {
  const { logprobs, top_logprobs: top, include } = members
  return typeof logprobs === 'number' || isSet(top) || toArray(include).some((name) => /logprobs/.test(String(name)))
}

/*
 * Members of OpenAI, Anthropic, vLLM, SGLang and llama.cpp by which a caller reads its prompt back, by position or by
 * token, or lets the engine drop a part of it. By kind, not by name: engines add such members with every version.
 */
const MEASURES = new RegExp(
  [
    '^echo$',
    '(?:^|_)(?:prompt|input)_(?:logprobs?|logits?|scores)$',
    '^(?:return|include)_(?:.*_)?(?:logprobs?|logits?|token_ids|tokens_as_token_ids|hidden_states|prompt\\w*|input\\w*|routed_experts|attention\\w*)$',
    '^(?:logprob|logits|score)_start',
    '^truncat(?:e|ion)\\w*$|^(?:max|limit)_(?:prompt|input|context)_(?:len\\w*|tokens)$|^n_(?:keep|discard)$|^context_(?:shift|management)$',
    // SGLang continues a session at an offset
    '^session_params$',
  ].join('|'),
)

/** Whether the prompt is read back, measured, scored or cut, so that any change of it changes what comes back. */
function isMeasured(members: Members): boolean {
  return valuesOf(members, MEASURES).some((value) => !['disabled', 'none', 'off'].includes(value as string))
}

// values beside a prompt, for the placeholders in it: `image_data`, `multi_modal_data`, `audios`, `prompt_embeds`
const MEDIA_MEMBER =
  /^(?:image|audio|video|picture|file|multi_?modal|mm|pixel|speech)\w*_?(?:data|items|values|urls?|paths?|inputs?)$|^(?:images?|audios?|videos?|media)$|_embeds$/

/** Whether media are given beside a plain prompt, which belong to its placeholders by position. */
function isTiedToMedia(members: Members): boolean {
  // in chats, `audio` says how the answer shall sound
  if (members.messages !== undefined || members.input !== undefined) return false
  return Object.entries(members).some(([name, value]) => MEDIA_MEMBER.test(name) && isSet(value))
}

const TEXT_PART = /^(?:input_|output_)?text$|^refusal$|^thinking$|^redacted_thinking$|^tool_|_call(?:_output)?$/

/** Returns how many parts of messages are neither texts nor tool calls. */
function countMedia({ messages, input }: Members): number {
  const parts = [...toArray(messages), ...toArray(input)].flatMap((message) => toArray(toObject(message).content))
  return parts.filter((part) => !TEXT_PART.test(String(toObject(part).type))).length
}

type Members = Readonly<Record<string, unknown>>

function lastMessage({ messages, input }: Members): Members {
  return toObject([...toArray(messages), ...toArray(input)].at(-1))
}

/** Returns the texts at whose end the answer begins. */
function endsOf(members: Members): unknown[] {
  const { prompt, text, input } = members
  const { content } = lastMessage(members)
  // the answer begins behind the last part
  return [
    prompt,
    text,
    typeof input === 'string' ? input : undefined,
    content,
    toObject(toArray(content).at(-1)).text,
  ].flat()
}

/** Returns what a message says, as one text or in parts, among other values. */
function textsOf({ content }: Members): unknown[] {
  return [content, ...toArray(content).map((part) => toObject(part).text)]
}

/** Whether a member says something: clients write `null`, `false`, `""` and `[]` for what they do not want. */
export function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : ![undefined, null, false, ''].includes(value as null)
}

/** Returns what members of these names say, also among SGLang's sampling parameters: one object for each prompt or one for all. */
function valuesOf(members: Members, names: RegExp): unknown[] {
  const { sampling_params: sampling } = members
  return [members, ...toArray(sampling).map(toObject), toObject(sampling)]
    .flatMap((values) => Object.entries(values))
    .flatMap(([name, value]) => (names.test(name) && isSet(value) ? [value] : []))
}

// of OpenAI, vLLM, SGLang, llama.cpp and Anthropic
const CONSTRAINT =
  /^(?:guided_(?:json|regex|choice|grammar)|structured_outputs|structural_tag|json_schema|regex|ebnf|grammar|output_format|allowed_token_ids|logit_bias)$/

/**
 * Whether a request asks for an answer that a program reads, by constraint or because the prompt ends inside JSON or
 * code. Numbers in such an answer are data.
 */
export function asksForData(members: Members): boolean {
  return constraintsOf(members).length > 0 || isBegun(members)
}

/** Returns the values of all members that constrain the form of the answer. */
function constraintsOf(members: Members): unknown[] {
  const { response_format: format, text, output_config: config } = members
  const formats = [format, toObject(text).format, toObject(config).format]
  return [
    ...formats.filter((value) => isSet(value) && toObject(value).type !== 'text'),
    ...valuesOf(members, CONSTRAINT),
  ]
}

const lengthOfEnd = 64

/** Whether the answer continues JSON, code or a list: the end of a plain prompt, or the beginning in a final assistant message. */
function isBegun({ messages, prompt, text }: Members): boolean {
  const last = toObject(toArray(messages).at(-1))
  const begun = last.role === 'assistant' ? textsOf(last) : []
  const plain = [prompt, text].flat().filter((value) => typeof value === 'string')
  return [...begun, ...plain.map((value) => `…${value.slice(-lengthOfEnd)}`)].some(
    (beginning) =>
      typeof beginning === 'string' &&
      /[{[]\s*$|^\s*[{[]["{[\s]|```[\w-]+\r?\n?$|\n[ \t]*(?:1[.)]|[-*•])[ \t]*$/.test(beginning),
  )
}

/** Whether the model may call a tool. */
function isCalling({ tools, functions, tool_choice: choice, function_call: call }: Members): boolean {
  if (!isSet(tools) && !isSet(functions)) return false
  return ![choice, toObject(choice).type, call].includes('none')
}

/** Whether the model must call a tool, so that its answer is the arguments. */
function isForced(members: Members): boolean {
  const { tool_choice: choice, function_call: call } = members
  if (!isCalling(members)) return false
  const { type, mode } = toObject(choice)
  const named = [choice, mode, type].find((value) => typeof value === 'string')
  return (isSet(named) && named !== 'auto') || typeof toObject(call).name === 'string'
}

/** Whether data of the form that is asked for can hold a value for each document. An unknown form can. */
function mayAlign(members: Members): boolean {
  const own = constraintsOf(members)
  const schemas = isForced(members) ? [...own, ...toolsOf(members).map(argumentsOf)] : own
  return schemas.length === 0 || isBegun(members) || schemas.some(mayHoldMany)
}

/** Returns the tools of which one may be called. */
function toolsOf({ tools, functions, tool_choice: choice, function_call: call }: Members): Members[] {
  const { name, function: chosen } = toObject(choice)
  const wanted = toObject(call).name ?? name ?? toObject(chosen).name
  const called = [...toArray(tools), ...toArray(functions)]
    .map(toObject)
    .map((tool) => ({ ...tool, ...toObject(tool.function) }) as Members)
  return called.filter((tool) => wanted === undefined || tool.name === wanted)
}

function argumentsOf({ parameters, input_schema: schema }: Members): unknown {
  return parameters ?? schema
}

const MANY =
  /"(?:array|integer|number)"|"(?:items|prefixItems|additionalProperties)"\s*:\s*[{[]|\d|["_](?:index|idx|position|rank|ordinal)"\s*:/
// beside a `"second"` or `"second_summary"` there is a first
const COUNTED =
  /["'“](?:second|zweite[rns]?|deuxième|segund[oa]|second[oa]|втор(?:ой|ая|ое)|第二|두 ?번째|الثاني)(?!_?name)["'”_\\]/i

function mayHoldMany(schema: unknown): boolean {
  const written = write(schema)
  // without properties, choices or a type, it says nothing of the form
  if (written === undefined || !/"(?:properties|enum|const)"|^\[/.test(written)) return true
  return [MANY, COUNTED, PLACED].some((pattern) => pattern.test(written))
}

const PLACE =
  /(?:^|_)(?:index|indexes|indices|idx|positions?|ranks?|ordinal|nth|(?:document|doc|result|source|passage|chunk|item|memory)_(?:number|no|num)s?)$|(?:Index|Indices|Positions?|Rank)$/
const NUMBERS = /"(?:integer|number|array)"|"enum":\[\d/
const TEXT = '(?:result|document|source|passage|chunk|item|hit)'
// what is chosen by a number, though its name does not say so: one, or an array of them
const CHOICE = `(?:choice|selection|option|doc|citation|reference|${TEXT})`
const CHOSEN = new RegExp(`^(?:${CHOICE}|selected)$`)
const CHOSEN_ONES = new RegExp(`^(?:${CHOICE}s|selected|cited)$`)
const PLACED = new RegExp(
  `\\b(?:n-?th|number of the|index of the) ${TEXT}\\b|\\b${TEXT}s?\\b.{0,200}\\b(?:(?:0|1|zero|one)-based|by (?:its )?(?:place|position|number)\\b(?! of))`,
  'i',
)
const BY_PLACE = new RegExp(`\\bwhich ${TEXT}\\b|${PLACED.source}`, 'i')
const deepestProperties = 8

/** Whether the model may call a tool with the place of a text. */
function takesPlace(members: Members): boolean {
  if (!isCalling(members)) return false
  return toolsOf(members).some((tool) => holdsPlace(toObject(argumentsOf(tool)), String(tool.description), 0))
}

function holdsPlace({ properties }: Members, about: string, depth: number): boolean {
  return Object.entries(toObject(properties)).some(
    ([name, schema]) =>
      isPlace(name, schema, about) || (depth < deepestProperties && holdsPlace(toObject(schema), about, depth + 1)),
  )
}

/** Whether a value is a place, by its name, its own description or that of its tool. */
function isPlace(name: string, value: unknown, about: string): boolean {
  if (PLACE.test(name) && NUMBERS.test(write(value) ?? '')) return true
  const { type, items, description } = toObject(value)
  if (COUNTED.test(String(description))) return true
  const isOne = isNumber(type)
  if (!isOne && !(type === 'array' && isNumber(toObject(items).type))) return false
  return (isOne ? CHOSEN : CHOSEN_ONES).test(name) || BY_PLACE.test(String(description)) || PLACED.test(about)
}

function isNumber(type: unknown): boolean {
  return type === 'integer' || type === 'number'
}

/** Writes a schema as JSON; undefined if it is nested too deeply to be written. */
function write(schema: unknown): string | undefined {
  try {
    return typeof schema === 'string' ? schema : (JSON.stringify(schema) ?? '')
  } catch {
    return undefined
  }
}
