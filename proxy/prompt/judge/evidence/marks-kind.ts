import type { ContextList } from '../../context-list.ts'
import { materialWords } from '../../scan/words/vocabulary.ts'
import type { Kind } from './weigh-evidence.ts'

// a label whose word means a text
const OF_TEXT = new RegExp(
  `^[^\\p{L}\\n]{0,12}(?!(?:files?|results?|attachments?|contents?|notes?)(?:$|[^\\p{L}]))(?:${materialWords})`,
  'iu',
)
// numbered paragraphs of one text, if the words before them call it that
const OF_ONE_TEXT =
  /\b(?:the|this|that|following|a|an) (?:following )?(?:text|story|judge?ment|ruling|opinion|poem|speech|recipe|letter|contract|agreement|law|statute|transcript|chapter|essay|report|paper|novel|tale|manual|guide|list|steps|rules|instructions)\b|文章|步骤|故事|本文/i
// one sentence on each line, as in verses, clauses and steps
const LINE = /^(?=[^\n]*\p{L}+[ \t]+[^\n ]+[ \t]+[^\n ]+[ \t]+[^\n ])[^«\n][^\n]{0,118}$/u
const LONGEST_MARK = 300

/** Classifies the marks of a list whose heading is `heading`. */
export function kindOf(text: string, { form, weight, blocks }: ContextList, heading: string): Kind {
  const { start } = blocks[0]!
  if (form === 'memories') return 'certain'
  if (weight === 'strong') return 'strong'
  switch (form) {
    case 'number': {
      const areLines =
        blocks.length > 2 && blocks.every((own) => LINE.test(text.slice(own.contentStart, own.contentEnd)))
      return areLines || OF_ONE_TEXT.test(heading) ? 'plain' : 'number'
    }
    case 'label':
      if ('-*+•'.includes(text[start]!) && text[start + 1] === ' ') return 'plain'
      return blocks.some(({ label }) => label !== undefined) || OF_TEXT.test(text.slice(start, start + LONGEST_MARK))
        ? 'weak'
        : 'named'
    case 'record':
      return 'record'
    case 'tag':
      return 'element'
    default:
      return 'plain'
  }
}
