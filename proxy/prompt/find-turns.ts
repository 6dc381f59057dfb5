/** A part of a prompt that one speaker says. */
export interface Turn {
  readonly start: number
  readonly end: number
}

// the marks of chat templates, which stand in prompts that the client rendered itself
const TURN_MARK =
  /(?:<\/s>\s{0,4})?(?:<s>\s?)?(?:<[|｜][\w▁ ]{1,40}[|｜]>|\[\/?INST\]|<(?:start|end)_of_turn>)(?:(?:system|user|assistant|model|tool)\r?\n)?/g

/** Each mark holds one of these. */
const MARK_SIGNS = ['<|', '<｜', 'INST]', '_of_turn>']

const MOST_TURNS = 10_000

/** The turns of a prompt, of which a message of a chat has one; undefined when there are absurdly many. */
export function findTurns(text: string): Turn[] | undefined {
  // to look for all that a mark may begin with takes longer than to see that there is none
  if (!MARK_SIGNS.some((sign) => text.includes(sign))) return [{ start: 0, end: text.length }]
  const turns: Turn[] = []
  let start = 0
  for (const mark of text.matchAll(TURN_MARK)) {
    turns.push({ start, end: mark.index })
    start = mark.index + mark[0].length
    if (turns.length === MOST_TURNS) return undefined
  }
  turns.push({ start, end: text.length })
  return turns
}
