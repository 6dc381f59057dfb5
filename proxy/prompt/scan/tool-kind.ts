/** What a tool does, by its name: `search` finds texts in many, `read` gives one text or what happened in order. */
export type ToolKind = 'search' | 'read' | 'other'

const SEARCHING =
  /search|retriev|query|look_?up|recall|rag(?![a-z])|knowledge|find_?(?:docs?|documents?|passages?|chunks?|notes?|memor|similar|relevant)|similar|semantic|wikipedia|tavily|(?:ask|consult)_?(?:docs?|documents?)|memor(?:y|ies)/
const READING =
  /(?:^|_)(?:read|open|cat|view|show|load|run|exec(?:ute)?|command|shell|bash|terminal|console|git|log|logs|history|transcri\w*|diff|list|ls|tail|head|split|parse|page|pages|timeline|feed|activity|messages?|comments?|channel|thread|inbox|calendar|steps?|recipe|procedure|describe|schema|sql|select)(?:_|$)/

// what follows one another in time stays so, although it is searched
const TIMED =
  /(?:^|_)(?:logs?|e_?mails?|mails?|commits?|threads?|messages?|chats?|conversations?|events?|timelines?|history|inbox|calendar|transcripts?|feeds?|activity|activities|channels?|comments?|diffs?|changelogs?|audits?|traces?|alerts?|notifications?|posts?|tweets?|meetings?|appointments?)(?:_|$)/

/** What a tool of this name does; undefined: its name is not known. */
export function toToolKind(name: string | undefined): ToolKind | undefined {
  if (name === undefined || name === '') return undefined
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z]+/g, '_')
    .toLowerCase()
  if (TIMED.test(words)) return 'read'
  if (SEARCHING.test(words)) return 'search'
  return READING.test(words) ? 'read' : 'other'
}
