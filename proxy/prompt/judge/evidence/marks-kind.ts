import type { BlockSpan, ContextList } from '../../context-list.ts'
import { readFields } from '../../scan/labels/find-record-head.ts'
import { materialWords } from '../../scan/words/vocabulary.ts'
import type { Kind } from './weigh-evidence.ts'

// titles that are links appear on any page
const LINKED = /^(?:\d{1,3}\. )?\[[^\]\n]*\]\(/
const SHORTEST_PASSAGE = 120
const FEWEST_LINES = 3
const DOCUMENT_ROLE = '<|start_of_role|>document '
// four words or more on one line
const SENTENCE = /^[^\n]*\p{L}+[ \t]+[^\n ]+[ \t]+[^\n ]+[ \t]+[^\n]*\p{L}[^\n]*$/u
// a label whose word means a text
const OF_TEXT = new RegExp(
  `^[^\\p{L}\\n]{0,12}(?!(?:files?|results?|attachments?|contents?|notes?)(?:$|[^\\p{L}]))(?:${materialWords})`,
  'iu',
)
// a line between two identical rules
const RULED = /^(([-=])\2{3,})[ \t]*\r?\n[^\n]{1,200}\n\1[ \t]*(?:\r?\n|$)/
const OF_LAWS = /^(?:article|fact|citation|段落)/i
const OF_ONE_TEXT =
  /\b(?:the|this|that|following|a|an) (?:following )?(?:text|story|judge?ment|ruling|opinion|poem|speech|recipe|letter|contract|agreement|law|statute|transcript|chapter|essay|report|paper|novel|tale|manual|guide|list|steps|rules|instructions)\b|(?:der|den|diesen|folgenden?) (?:text|artikel|vertrag|roman)|(?:le|ce|du) (?:texte|récit|contrat)|(?:el|este|del) (?:texto|relato|contrato)|文章|步骤|故事|本文/i
const LONGEST_MARK = 300

/** Classifies the marks of a list whose heading is `heading`. */
export function kindOf(text: string, list: ContextList, heading: string): Kind {
  const { form, weight, labelPrefix, blocks } = list
  if (form === 'memories') return 'memories'
  if (OF_LAWS.test(labelPrefix) && weight === 'weak') return areRecords(text, blocks) ? 'record' : 'law'
  if (text.startsWith(DOCUMENT_ROLE, blocks[0]!.start)) return 'template'
  if (weight === 'strong') return 'strong'
  switch (form) {
    case 'number':
      // numbered paragraphs of one text, if it is called that, or verses, clauses and steps
      return OF_ONE_TEXT.test(heading) || areLines(text, blocks) ? 'plain' : 'number'
    case 'label':
      return kindOfLabel(text, blocks)
    case 'closed':
      return 'weak'
    case 'record':
      return text[blocks[0]!.start] === '#' ? 'comment' : 'record'
    case 'credited':
      return 'credited'
    case 'tag':
      return 'element'
    default:
      return 'plain'
  }
}

function kindOfLabel(text: string, blocks: readonly BlockSpan[]): Kind {
  const { start } = blocks[0]!
  if (/^[-*+•] /.test(text.slice(start, start + 2))) return 'bulleted'
  const head = text.slice(start, start + LONGEST_MARK)
  if (LINKED.test(head)) return 'plain'
  if (blocks.some(({ label }) => label !== undefined)) return 'weak'
  if (RULED.test(head)) return 'ruled'
  return OF_TEXT.test(head) ? 'weak' : 'named'
}

/** Returns whether each of these blocks begins with fields, one of which names its source. */
function areRecords(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ contentStart }) => readFields(text, contentStart)?.isWeak === false)
}

/** Returns whether these blocks read like verses, clauses or steps, which are numbered too: one sentence per line. */
function areLines(text: string, blocks: readonly BlockSpan[]): boolean {
  if (blocks.length < FEWEST_LINES) return false
  return blocks.every(({ contentStart, contentEnd }) => {
    const isShort = contentEnd - contentStart < SHORTEST_PASSAGE
    // a template quotes whole passages, such as `[1] «It rained.»`
    return isShort && text[contentStart] !== '«' && SENTENCE.test(text.slice(contentStart, contentEnd))
  })
}
