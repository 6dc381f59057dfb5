/** What a template is recognised by: who is asked, and constant text around a list, with digits folded and what varies cut out. */
export interface ListPlace {
  readonly api: string
  /** with its adapter; empty: the engine's only one */
  readonly model: string
  readonly role: string
  /** the tool whose result holds the list; empty: none */
  readonly tool: string
  /** how the system prompt begins */
  readonly system: string
  /** how the message begins, in front of the list */
  readonly lead: string
  /** what stands between two blocks */
  readonly gap: string
  /** what follows the list, if it looks like a label */
  readonly tail: string
}

/** The template that a list is of, and whether its blocks may be moved now. */
export interface TemplateUse {
  readonly id: string
  readonly mayMove: boolean
  /** the list was sent before, and is sent again as it was */
  readonly isPast: boolean
  /** it was answered, and the conversation went on */
  readonly isFollowed: boolean
  readonly place: ListPlace
  /** the words of the request that ask about the list */
  readonly question: string
  /** the answer to the request is to be scored */
  readonly isSample: boolean
}
