import type { Lookahead } from './lookahead.ts'

/*
 * A bracket that contains labels is either a citation or a value, and only its surroundings can tell. A citation is at
 * the end of a clause (`text [1].`, `word[1],`), is what the clause is about (`According to [2], …`, `[3] says`), or is
 * next to another citation. The following are no citations and are left alone: what follows an operator, `return`, a
 * key, an open call or an open brace; what precedes an operator; an index, directly after code or after the name of a
 * collection (`items[1]`); the value of a noun (`the vector [1, 2]`, `the scores are [1, 2]`); several labels in the
 * middle of a clause, unless the clause mentions sources there (`studies [1, 2] show`); and what is listed next to such
 * a value.
 */

const lengthOfBehind = 64
const valueNoun = 'arrays?|vectors?|matrix|tuples?|intervals?|indices|index|returns|prints|equals'
/** An operator, or a word for a value: little prose ends that way. */
const operator = new RegExp(`(?:=>?|[∈⊂⊆×·]|\\\\in|(?:^|\\s)\\+|<-)\\s*$|\\}$|\\b(?:${valueNoun})\\s+$`, 'i')
const keyword = /^[\s>]*(?:return|yield|throw|await)\s+$|\bfor \w+ in\s+$/
const key = /^[\s>*-]*["']?(?!source|citation|cited|reference|ref|doc|passage|evidence|see)[a-z_][\w-]*["']?:\s*$/
const collection =
  /(?<![\w$])(?:items?|rows?|cols?|columns?|arrays?|arr|lists?|tuples?|matrix|vectors?|vec|elements?|entries|values|vals|args|argv|params|nums|indices|children|dict|buf|buffer|stack|queue|heap|cells|keys)$/i
const link =
  '(?:,? (?:is|are|was|were|be|of|to|as|from|equals?|becomes?|contains?|has|have|holds?))?(?: now)?[*_]*:?[*_]*'
const linked = ' (?:is|are|was|were|of|has|have)'
/** Nouns for several numbers, of which some have other uses unless a verb or a colon follows. */
const listNoun = new RegExp(
  [
    `\\b(?:${valueNoun}|matrices|lists?|ranges?|coordinates?|ids|rows?|columns?|point|sequence|subset|shape|permutation|integers|domain|pages?|pp\\.|lines?|chapters?|years?|bounds|gives|between)(?: [A-Za-z]\\w?)?${link}\\s*$`,
    `\\b(?:values?|scores?|weights?|numbers?|items|elements|entries|sizes?|dimensions|keys|inputs?|outputs?|sets?|pairs?|positions?|points|digits|counts?|ratings?)(?:${linked})?[*_]*(?::[*_]*|${linked})\\s*$`,
  ].join('|'),
  'i',
)
const citing =
  /(?:\b(?:as|by|per|see|both|and|or|but|while|than|to|stud(?:y|ies)|sources?|documents?|docs?|papers?|passages?|references?|refs?|reports?|articles?|authors?|works?|researchers|experts|evidence|(?:reported|shown|described|discussed|stated|noted|mentioned|found|seen) in)|[^\w\s]|^)[*_\s]*$/i

/** Words that begin another clause, or say what sources say. */
const clauseEnds = new Set(
  'and or but while which that because so when where whereas although though since show shows say says state states suggest suggests indicate indicates report reports confirm confirms agree agrees disagree disagrees'.split(
    ' ',
  ),
)

/** Whether the bracket between `line` and `ahead` is a value and no citation; `isList` if it has several labels. */
export function isValue(line: string, ahead: Lookahead, isList: boolean): boolean {
  if (!isBehindProse(line) || isOpen(line) || isInFormula(line)) return true
  const behind = line.slice(-lengthOfBehind)
  // directly after a word the bracket can only be an index
  const isIndex = /\w$/.test(behind)
  if (isIndex ? collection.test(behind) : operator.test(behind) || keyword.test(line)) return true
  if (isBeforeOperator(ahead) || (key.test(line) && !isInClause(ahead))) return true
  if (!isList) return false
  return listNoun.test(behind) || (isInClause(ahead) && !citing.test(behind))
}

/** Whether the bracket is in the arguments of a call or between braces. */
function isOpen(line: string): boolean {
  if (line.lastIndexOf('{') > line.lastIndexOf('}')) return true
  const paren = line.lastIndexOf('(')
  return paren > line.lastIndexOf(')') && /[\w$]/.test(line[paren - 1] ?? ' ')
}

function isInFormula(line: string): boolean {
  const dollar = line.lastIndexOf('$')
  return dollar >= 0 && /\\[A-Za-z]/.test(line.slice(dollar))
}

/**
 * Whether an operator follows: `[1]^T`, `[1]_i`, `[3]rotaxane`, `[1] + [2]`, `[0] * n`. A list marker or emphasis is no
 * operator.
 */
function isBeforeOperator(ahead: Lookahead): boolean {
  const subscript = ahead.peek() === '_' ? ahead.peek(1) : ''
  if (/[$^a-z0-9]/.test(ahead.peek()) || /[^\W_]|{/.test(subscript)) return true
  const blanks = ahead.count(' ', 2)
  const next = ahead.peek(blanks)
  if (next === '=') return true
  return (next === '+' || next === '*') && ahead.peek(blanks + 1) === ' '
}

/** Whether a word follows that continues the clause: it neither begins another clause nor says what sources say. */
function isInClause(ahead: Lookahead): boolean {
  const blanks = ahead.count(' ', 2)
  const word = blanks === 0 ? '' : ahead.peekWord(blanks)
  return word !== '' && !clauseEnds.has(word)
}

const codeSigns = /[={}]|[\w$]\(|::|->|\b(?:if|for|while|switch) ?\(|\b(?:const|var) /
const lastWord = /(?:^|[^\w$.)\]/\\@#'’-])((?:[A-Za-z]+['’-])*[A-Za-z]+|\d[\d.,]*)$/
// `[the rain][1]`, but not `m[i][1]`
const linkText = /(?:^|[^\w$)\]])\[[^[\]]*\p{L}{2}[^[\]]*\]$/u
const likelyWord = /^[A-Z\d]|.{4}/

/**
 * Whether a bracket after `line` can be a citation rather than an index in code, as in `a[0]`, `rows[0][1]` or
 * `f()[1]`. Many citations have no space before them (`Paris[1].`), so a word of prose may precede the bracket.
 */
function isBehindProse(line: string): boolean {
  const last = line.at(-1)
  if (last === undefined || !/[\w$)\]]/.test(last)) return true
  if (codeSigns.test(line)) return false
  if (last === ']') return linkText.test(line)
  return last === ')' || likelyWord.test(lastWord.exec(line)?.[1] ?? '')
}
