import type { JsonPath } from '../../common/json/json-value.ts'

/** One text of a body: a message's content, one of its text parts, or a tool's result. */
export interface PromptText {
  readonly path: JsonPath
  readonly text: string
  /** the text is the raw JSON at `path`, not the value of a JSON string */
  readonly isRaw?: boolean
}

/** A part of a prompt from one speaker. */
export interface PromptMessage {
  readonly role: string
  /** indices of its texts in `PromptSet.texts` */
  readonly texts: readonly number[]
  /** everything but role and texts, as JSON: images, tool calls, names */
  readonly rest: string
  /** whether the content is nothing but text */
  readonly isTextOnly: boolean
  /** whether it is a whole prompt, rendered with the client's own chat template, in which several may speak */
  readonly isRendered?: boolean
  /** the next message is from the same speaker and may contain the question */
  readonly isFollowed?: boolean
  /** name of the tool that produced this result, if its call gives one */
  readonly tool?: string
  /** the tool's arguments specify the order of its results */
  readonly isSorted?: boolean
}

/** What an engine prefills as one sequence. A completions body may contain several. */
export interface Prompt {
  /** everything that decides what comes before the messages, or whose cache is used */
  readonly preamble: string
  readonly messages: readonly PromptMessage[]
}

/** The prompts of a body whose shape was recognised. */
export interface PromptSet {
  readonly prompts: readonly Prompt[]
  /** texts of all prompts, in the order an engine reads them */
  readonly texts: readonly PromptText[]
}

/** Returns how many messages there are, in all prompts together. */
export function countMessages({ prompts }: PromptSet): number {
  return prompts.reduce((sum, { messages }) => sum + messages.length, 0)
}
