import { createHash } from 'node:crypto'
import type { PromptTokens, Tokenizer } from './tokenizer.ts'

/** One part of a message's content; everything that is not text counts as an attachment. */
export interface ContentPart {
  type?: string
  text?: string | null
}

export interface ChatMessage {
  role: string
  content?: string | Array<ContentPart | string> | null
  tool_calls?: unknown
}

/** The parts of a chat request that form its prompt. */
export interface ChatPrompt {
  messages: ChatMessage[]
  tools?: unknown[] | null
  documents?: unknown[] | null
  /** leaves the last message open: the model goes on with it */
  continue_final_message?: boolean | null
  /** whether an answer is begun; by default it is */
  add_generation_prompt?: boolean | null
}

/** Tokens of an image or a recording, whatever its size. */
export const attachmentTokens = 256

// ids above the encoding's own: no user's text can produce them
export const messageStart = 200_264
export const messageEnd = 200_265

/** Renders a chat as ChatML, with tools and documents in separate sections first, and tokenises it into `prompt`. */
export function renderChat(chat: ChatPrompt, tokenizer: Tokenizer, prompt: PromptTokens): void {
  const text = (part: string): void => tokenizer.encode(part, prompt)
  const section = (title: string, entries: unknown[] | null | undefined): void => {
    if (!entries?.length) return
    prompt.append([messageStart])
    text(`system\n# ${title}\n${entries.map((entry) => JSON.stringify(entry)).join('\n')}`)
    closeMessage(prompt, text)
  }
  section('Tools', chat.tools)
  section('Documents', chat.documents)
  for (const message of chat.messages) {
    prompt.append([messageStart])
    renderMessage(message, text, prompt)
    if (chat.continue_final_message && message === chat.messages.at(-1)) return
    closeMessage(prompt, text)
  }
  if (chat.add_generation_prompt === false) return
  prompt.append([messageStart])
  text('assistant\n')
}

function closeMessage(prompt: PromptTokens, text: (part: string) => void): void {
  prompt.append([messageEnd])
  text('\n')
}

function renderMessage(message: ChatMessage, text: (part: string) => void, prompt: PromptTokens): void {
  text(`${message.role}\n`)
  const content = message.content ?? ''
  for (const part of typeof content === 'string' ? [content] : content) {
    const words = typeof part === 'string' ? part : part.text
    if (typeof words === 'string') text(words)
    else prompt.append(attachment(part))
  }
  if (message.tool_calls) text(JSON.stringify(message.tool_calls))
}

/** Placeholder tokens that depend only on the attachment's content. */
function attachment(part: unknown): Uint32Array {
  const digest = createHash('sha256').update(JSON.stringify(part)).digest()
  // the top bit distinguishes them from every text token
  return Uint32Array.from({ length: attachmentTokens }, (_, i) => (digest.readUInt32LE((i % 8) * 4) | 0x80000000) >>> 0)
}
