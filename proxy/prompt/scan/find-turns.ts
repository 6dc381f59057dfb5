/** A part of a prompt from one speaker. */
export interface Turn {
  readonly start: number
  readonly end: number
  /** the assistant speaks, whose words are never touched */
  readonly isAnswer: boolean
}

// marks of chat templates, which occur in prompts rendered by the client
const TURN_MARK =
  /(?:<\/s>\s{0,4})?(?:<s>\s?)?(?:<[|｜]([\w▁ ]{1,40})[|｜]>|\[(\/?)INST\]|<(start|end)_of_turn>)((?:system|user|assistant|model|tool)\r?\n)?/g

/** Each mark contains one of these. */
const MARK_SIGNS = ['<|', '<｜', 'INST]', '_of_turn>']

const MOST_TURNS = 10_000

const ANSWERING = /^[ \t]?(?:assistant|model|chatbot|bot)\b/i
const LONGEST_ROLE = 16
// somebody else speaks, or nobody
const ENDING = 'user system human tool developer observation environment end eot eom eos return'.split(' ')

/** Returns the turns of a rendered prompt, except the assistant's. Undefined if there are absurdly many. */
export function findTurns(text: string): Turn[] | undefined {
  return findAllTurns(text)?.filter(({ isAnswer }) => !isAnswer)
}

/** Returns the turns of a rendered prompt without their marks. Undefined if there are absurdly many. */
export function findAllTurns(text: string): Turn[] | undefined {
  // searching for everything that may begin a mark is slower than checking that there is none
  if (!MARK_SIGNS.some((sign) => text.includes(sign))) return [{ start: 0, end: text.length, isAnswer: false }]
  const turns: Turn[] = []
  let start = 0
  let isAnswer = false
  for (const mark of text.matchAll(TURN_MARK)) {
    turns.push({ start, end: mark.index, isAnswer })
    isAnswer = beginsAnswer(text, mark, isAnswer)
    start = mark.index + mark[0].length
    if (turns.length === MOST_TURNS) return undefined
  }
  return [...turns, { start, end: text.length, isAnswer }]
}

/**
 * Returns whether the assistant speaks after a mark. A mark that says nothing about it, such as one within a turn,
 * changes nothing.
 */
function beginsAnswer(text: string, mark: RegExpExecArray, isAnswer: boolean): boolean {
  const [whole, special, slash, edge, role = ''] = mark
  if (slash !== undefined) return slash === '/'
  const name = (special ?? edge ?? '').toLowerCase()
  // `<|start_header_id|>assistant<|end_header_id|>`: the role was read at the first mark
  if ((name.includes('header') || name.includes('role')) && name.includes('end')) return isAnswer
  if (name.includes('start')) {
    const at = mark.index + whole.length - role.length
    return ANSWERING.test(text.slice(at, at + LONGEST_ROLE))
  }
  const holds = (word: string): boolean => name.includes(word)
  // tool calls are part of the answer, which continues after the tools' output
  if (['assistant', 'bot', 'model', 'call'].some(holds) || (holds('tool') && holds('end'))) return true
  return ENDING.some(holds) ? false : isAnswer
}
