import { findLineEnd, matchAt } from './find-edges.ts'

/** The line at which a prompt changes from its blocks to the question. */
export interface Cue {
  /** Its words in lower case. If blocks contain such lines, a cue of this kind cannot end a block. */
  readonly kind: string
  /** It introduces the question, not only the answer or an instruction. */
  readonly question: boolean
  /** It introduces the answer. */
  readonly answer: boolean
  /** Nothing follows it on its line. */
  readonly empty: boolean
}

const DECORATION = '[ \\t]{0,16}((?:[#*<>_|[【-]{1,6}[ \\t]{0,2}){0,2})'
const KIND = "(?:(?:user|current|new|next|final|original|helpful|follow[ -]?up)(?:['’]s)?[ _-])"
const HERE =
  "(?:(?:and|now|so),? )?(?:here(?:['’]s| is)|this is|below is) (?:the |my |your )?|hier ist (?:die |meine )|voici (?:la |ma )|aquí está (?:la |mi )"
const QUALITY = `(?:(?:the |my |your )?${KIND}|(?:${HERE})${KIND}?)?`
const QUESTION =
  "pregunta del (?:usuario|cliente|estudiante)|pergunta d[oe] (?:usuário|cliente|estudante)|domanda dell[’']utente|" +
  "question de l[’']utilisateur|frage de[sr] (?:nutzers|nutzerin|benutzers|kunden)|вопрос (?:пользователя|клиента)|" +
  'question|query|anfrage|frage|pregunta|domanda|pergunta|вопрос|السؤال|سؤال|用户问题|用户提问|用户的问题|问题|問題|查询|提问|質問|질문|사용자 질문'
const ANSWER =
  'answer|antwort|réponse|reponse|respuesta|risposta|resposta|ответ|الإجابة|الجواب|답변|回答|答案|response|reply|assistant'
const OTHER =
  'instruction|task|aufgabe|input|user|human|(?:chat|conversation) history|' +
  'anweisung(?:en)?|consigne|(?:instruccion|instruçõ|istruzion)(?:es|i)?(?: d[ei] \\p{L}{1,20})?|инструкци[яи]|指示|说明|要求|지침|تعليمات|' +
  '(?:answer|answering|response|output) (?:format|guideline|instruction|requirement|rule)|' +
  '(?:回答|输出|答题)(?:要求|格式|规则|指南|说明)|回答(?:の)?(?:ルール|形式|条件)'
// text allowed between a noun and the end of its announcement: `Question 2:`, `Question (in short):`, `<question>`
const ANNOUNCED = 's?(?:[ \\t]?(?:\\([^()\\n]{0,40}\\)|\\d{1,3}))?[ \\t]?[*_#|\\]】]{0,3}[ \\t]?(?:[:：>]|\\r?\\n|$)'
const MATERIAL =
  '(?:above|provided|given|following|retrieved|relevant|supplied|context|information|documents?|sources?|passages?|texts?|search|results?|facts?|knowledge|evidence|notes|memories|excerpts?|snippets?|chunks?|references?|articles?)'
const THE = '(?:the|this|these|all|all the|your) '
const SENTENCE = [
  '(?:now[, ]+|please[, ]+)?(?:answer|respond|reply)(?=[ ,.]|\\r?\\n|$)',
  'now,? (?:please )?(?:give|write|provide|generate|compose) (?:your|the|an) (?:final )?(?:answer|response|reply)\\b',
  'please (?:use|provide|cite|write|read|consider|summari[sz]e|give)\\b',
  `(?:based (?:only |solely |strictly )?on|given|using|according to) (?:only )?(?:${THE})?${MATERIAL}\\b`,
  `use (?:only )?the (?:above|provided|given|retrieved|context)\\b`,
  '(?:bitte )?(?:beantworte|antworte)\\b',
  '(?:basierend )?auf (?:grundlage|basis) (?:des|der)\\b',
  'the above (?:is|are) (?:the |your |all )?(?:knowledge|context|documents|sources|search|retrieved|information)',
  '以上(?:是|为)(?:知识|参考|上下文|检索|资料)',
  '请(?:根据|基于|回答|使用|用)|(?:根据|基于)(?:以上|上述|上面)',
].join('|')

const NOUN = `(?:(${QUESTION})|(${ANSWER})|(${OTHER}))`
const CUE = new RegExp(`${DECORATION}(?:${QUALITY}${NOUN}${ANNOUNCED}|(${SENTENCE}))`, 'iuy')
const EMPTY = /[ \t*_]*\r?(?:\n|$)/y
// `    question: int` and `  query: body.query,` are fields in source code
const FIELD = /[ \t]{2,16}\p{Ll}[\w ]{0,40}:[ \t]{0,4}/uy
const TYPE = 'int|str|string|bool|boolean|bytes|number|float|any|unknown|object|list|dict|set|tuple|null|None'
const VALUE = new RegExp(
  `^(?:(?:['"\`].*['"\`]|[\\w.$]+(?:[([{<].*)?)[,;]|[\\w.$]*[([{]|\\(.*\\) => .*|(?:${TYPE})(?:\\[.*\\])?(?: ?[|=] .*)?)$`,
)
const LONGEST_VALUE = 200

/** Reads the line that begins at `line`. Returns undefined if it is not a cue. */
export function readCue(text: string, line: number): Cue | undefined {
  const match = matchAt(CUE, text, line)
  if (match === null) return undefined
  const [whole, decoration, question, answer, other, sentence] = match
  const noun = answer ?? other
  if (noun !== undefined && !isAnnouncement(whole, decoration!, noun)) return undefined
  if (sentence === undefined && decoration === '' && isField(text, line)) return undefined
  const kind = (question ?? noun ?? sentence ?? '').toLowerCase()
  const empty = whole.endsWith('\n') || matchAt(EMPTY, text, line + whole.length) !== null
  return { kind, question: question !== undefined, answer: answer !== undefined, empty }
}

// `Response` alone on its line may be any text, and `user: String` is code
function isAnnouncement(whole: string, decoration: string, noun: string): boolean {
  if (noun === 'user' || noun === 'human' || noun === 'assistant') return decoration !== ''
  return decoration !== '' || ':：>'.includes(whole.at(-1)!)
}

function isField(text: string, line: number): boolean {
  const name = matchAt(FIELD, text, line)
  if (name === null) return false
  const start = line + name[0].length
  const end = findLineEnd(text, start)
  return end - start <= LONGEST_VALUE && VALUE.test(text.slice(start, end).trimEnd())
}
