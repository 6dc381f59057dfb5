import { partWords } from './field-names.ts'

/**
 * What a tool does, judged by its name: `search` finds texts among many, `read` returns one text or events in order.
 */
export type ToolKind = 'search' | 'read' | 'other'

const SEARCHING =
  /search|retriev|look_?up|recall|rag(?![a-z])|knowledge|find_?(?:docs?|documents?|passages?|chunks?|notes?|memor|similar|relevant)|similar|semantic|wikipedia|tavily|arxiv|pub_?med|scholar|stack_?(?:exchange|overflow)|duck_?duck_?go|(?:ask|consult)_?(?:docs?|documents?)|memor(?:y|ies)|query_?(?:engine|index|doc|kb|vector|notes|library|corpus|collection|store|wiki|handbook|manual|polic|faq)|(?:docs?|documents?|kb|vectors?|index|notes|library|corpus|wiki|handbook)_query/
const READING = new Set(
  'read open cat view show load run exec execute command shell bash terminal console git log logs history diff list ls tail head split parse page pages timeline feed activity message messages comment comments channel thread inbox calendar step steps recipe procedure describe schema sql select table rows leaderboard ranking rankings ocr directions route playlist queue'.split(
    ' ',
  ),
)
// things in time order stay in order, even if they are searched
const TIMED = new Set(
  'log email mail commit thread message chat conversation event timeline history inbox calendar transcript feed activity activities channel comment diff changelog audit trace alert notification post tweet meeting appointment latest recent newest news headline stories trending top update release'.split(
    ' ',
  ),
)

/** Returns what a tool of this name does. Undefined if it has no name. */
export function toToolKind(name: string | undefined): ToolKind | undefined {
  if (name === undefined || name === '') return undefined
  const words = partWords(name)
    .replace(/[^A-Za-z]+/g, '_')
    .toLowerCase()
  const each = words.split('_')
  if (each.some((word) => TIMED.has(word) || (word.endsWith('s') && TIMED.has(word.slice(0, -1))))) return 'read'
  if (SEARCHING.test(words)) return 'search'
  return each.some((word) => READING.has(word) || word.startsWith('transcri')) ? 'read' : 'other'
}

/** Arguments that ask a tool for an order other than by relevance. */
const SORTING =
  /"(?:sort(?:ed)?|sort(?:ed)?_?(?:by|order|field)|order|order(?:ed)?_?by|ordering)"\s*:\s*(?:\[\s*){0,2}\{?\s*"(?!\s*(?:-|\+)?(?:_?score|relevan|best|simil|match|rank|fit))|"(?:newest|latest|oldest|(?:a|de)sc(?:ending)?)"\s*:\s*true/i
/** The same in the language of a database, whose line ends JSON escapes; a distance is by relevance. */
const OF_ROWS = /\bselect(?:\s|\\[nrt])|\|\s{0,2}(?:order|sort) by /i
const SORTING_ROWS =
  /(?:\s|\\[nrt]|\|)(?:order|sort) by (?![^"]{0,60}(?:<|score|relevan|simil|match|rank|distance|embedding))/i

/** Returns whether a tool's JSON arguments, or other JSON, specify an order. */
export function isSorted(json: string): boolean {
  return SORTING.test(json) || (OF_ROWS.test(json) && SORTING_ROWS.test(json))
}

// `"best_index": 2`, `"answer": "Bees dance [1]."`, `"note": "cheapest first"`
const NAMING = new RegExp(
  [
    '"(?!(?:start|next|end|last|page|total|from|to)_)(?:\\w*_)?(?:index|idx|indices|position|best|selected|chosen|winner)"\\s*:\\s*(?:\\[\\s*)?\\d(?=\\s*[,}\\]])',
    '[^\\s:,[\\d]\\s?\\[\\d{1,2}\\]',
    '(?:result|document|source|passage|item|hit) #?\\d{1,2}(?!\\d|\\s?(?:[-–]|of|to)\\s?\\d)',
    ' (?:first|on top)[.)]?"',
  ].join('|'),
  'i',
)
// what was searched for says nothing of what was found
const ECHO = /"(?:query|q|question|search|input|keywords?|messages?)"\s*:\s*"(?:[^"\\]|\\.)*"/gi

/** Returns whether JSON beside texts names one of them by its place, or says what comes first. */
export function namesPlaces(json: string): boolean {
  return NAMING.test(json.replace(ECHO, ''))
}
