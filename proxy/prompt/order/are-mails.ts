import type { BlockSpan } from '../context-list.ts'
import { isMonotone, type OrderKey, readKey } from './order-key.ts'

// header fields of a mail
const MAIL_FIELD =
  /^(?:from|to|cc|bcc|sent|date|subject|reply-to|message-id|von|an|betreff|gesendet|datum|de|à|objet|envoyé|para|asunto|enviado|fecha|发件人|收件人|主题|日期|差出人|宛先|件名)\s?[:：]/iu
const MAIL_DATE = /^(?:sent|date|gesendet|datum|envoyé(?: le)?|enviado(?: el)?|fecha|日期|日時)\s?[:：]\s*/iu

// first line of a quoted mail
const QUOTED = /^(?:On|Am|Le|El|Em|Il) [^\n]{3,100}(?:wrote|schrieb|écrit|escribió|escreveu|scritto)\s?[:：]/u
const LONGEST_LINE = 200
const MOST_MAIL_FIELDS = 8

/** Returns whether all blocks are mails, either with rising or falling dates or all without dates. */
export function areMails(text: string, blocks: readonly BlockSpan[]): boolean {
  const headOf = ({ contentStart }: BlockSpan): string => text.slice(contentStart, contentStart + LONGEST_LINE)
  if (blocks.every((block) => QUOTED.test(headOf(block)))) return true
  const dates: (OrderKey | null)[] = []
  for (const { contentStart, contentEnd } of blocks) {
    const date = readMail(text, contentStart, contentEnd)
    if (date === undefined) return false
    dates.push(date)
  }
  return dates.every((date) => date === null) || isMonotone(dates, (date) => date ?? undefined)
}

/** Returns the date of a mail, null if it has none, or undefined if this is not a mail. */
function readMail(text: string, start: number, end: number): OrderKey | null | undefined {
  const lines = text
    .slice(start, Math.min(end, start + MOST_MAIL_FIELDS * LONGEST_LINE))
    .trimStart()
    .split('\n', MOST_MAIL_FIELDS)
  const fields = lines.filter((line) => MAIL_FIELD.test(line))
  if (fields.length < 2 || !MAIL_FIELD.test(lines[0]!)) return undefined
  const dated = fields.find((line) => MAIL_DATE.test(line))
  return dated === undefined ? null : (readKey(dated.replace(MAIL_DATE, '')) ?? null)
}
