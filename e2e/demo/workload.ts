/** One retrieved text, as the application puts it into a prompt. */
export interface ContextBlock {
  readonly id: string
  readonly text: string
}

/** One question to the assistant, with the blocks retrieved for it. */
export interface Turn {
  readonly id: string
  /** Turns of one conversation repeat the history before them; a turn without a conversation is independent. */
  readonly conversation: string | undefined
  /** The API key the request is sent with, which decides whose cache it may share. */
  readonly tenant: string | undefined
  readonly question: string
  /** Best first. */
  readonly blocks: readonly ContextBlock[]
  /** Whether only blank lines separate the blocks. */
  readonly isPlain?: boolean
}

/** Requests in the order in which they are sent. */
export interface Workload {
  readonly name: string
  readonly turns: readonly Turn[]
}
