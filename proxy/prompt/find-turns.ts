/** A part of a prompt that one speaker says. */
export interface Turn {
  readonly start: number
  readonly end: number
}

// the marks of chat templates, which stand in prompts that the client rendered itself
const TURN_MARK =
  /(?:<\/s>\s{0,4})?(?:<s>\s?)?(?:<[|｜][\w▁ ]{1,40}[|｜]>|\[\/?INST\]|<(?:start|end)_of_turn>)(?:(?:system|user|assistant|model|tool)\r?\n)?/g

const MOST_TURNS = 10_000

/** The turns of a prompt, of which a message of a chat has one; undefined when there are absurdly many. */
export function findTurns(text: string): Turn[] | undefined {
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
