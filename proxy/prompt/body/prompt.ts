/** Where a value stands in a JSON body: the keys and places that lead to it. */
export type JsonPath = readonly (string | number)[]

/** One text of a body: a message's content, one text part of it, a tool's result. */
export interface PromptText {
  readonly path: JsonPath
  readonly text: string
  /** the text is the JSON that stands there, not the value of a JSON string */
  readonly isRaw: boolean
}

/** A part of a prompt that one speaker says. */
export interface PromptMessage {
  /** place among all messages of the body */
  readonly place: number
  readonly role: string
  /** places of its texts in `PromptBody.texts` */
  readonly texts: readonly number[]
  /** everything but role and texts, as JSON: images, tool calls, names */
  readonly rest: string
  /** whether the content holds nothing but text */
  readonly isTextOnly: boolean
  /** whether it is a whole prompt, in which several may speak, as the client's own chat template has it */
  readonly isRendered?: boolean
  /** the next message is the same speaker's: it may hold the question */
  readonly isFollowed?: boolean
  /** what the tool is called whose result it is, where its call says so */
  readonly tool?: string
  /** what the tool was given says in which order it lists what it finds */
  readonly isSorted?: boolean
}

/** What an engine prefills as one sequence; completions may ask for several in one body. */
export interface Prompt {
  /** all that decides what stands in front of the messages, or whose cache it is */
  readonly preamble: string
  readonly messages: readonly PromptMessage[]
}
