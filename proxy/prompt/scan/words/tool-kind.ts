/** What a tool does, by its name: `search` finds texts in many, `read` gives one text or what happened in order. */
export type ToolKind = 'search' | 'read' | 'other'

const SEARCHING =
  /search|retriev|look_?up|recall|rag(?![a-z])|knowledge|find_?(?:docs?|documents?|passages?|chunks?|notes?|memor|similar|relevant)|similar|semantic|wikipedia|tavily|(?:ask|consult)_?(?:docs?|documents?)|memor(?:y|ies)/
// a query alone is put to databases, whose rows have an order
const QUERYING =
  /query_?(?:engine|index|docs?|documents?|docstore|kb|vector\w*|notes|library|corpus|collection|store|wiki|handbook|manuals?|policies|faqs?)(?:_|$)|(?:docs?|documents?|kb|vector|vectors|index|notes|library|corpus|wiki|handbook)_query/
const READING =
  /(?:^|_)(?:read|open|cat|view|show|load|run|exec(?:ute)?|command|shell|bash|terminal|console|git|log|logs|history|transcri\w*|diff|list|ls|tail|head|split|parse|page|pages|timeline|feed|activity|messages?|comments?|channel|thread|inbox|calendar|steps?|recipe|procedure|describe|schema|sql|select|table|rows|leaderboard|rankings?|ocr|directions|route|playlist|queue)(?:_|$)/

// what follows one another in time stays so, although it is searched
const TIMED =
  /(?:^|_)(?:logs?|e_?mails?|mails?|commits?|threads?|messages?|chats?|conversations?|events?|timelines?|history|inbox|calendar|transcripts?|feeds?|activity|activities|channels?|comments?|diffs?|changelogs?|audits?|traces?|alerts?|notifications?|posts?|tweets?|meetings?|appointments?|latest|recent|newest|news|headlines?|stories|trending|top|updates|releases)(?:_|$)/

/** What a tool of this name does; undefined: its name is not known. */
export function toToolKind(name: string | undefined): ToolKind | undefined {
  if (name === undefined || name === '') return undefined
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z]+/g, '_')
    .toLowerCase()
  if (TIMED.test(words)) return 'read'
  if (SEARCHING.test(words) || QUERYING.test(words)) return 'search'
  return READING.test(words) ? 'read' : 'other'
}

/** Arguments by which a tool is told in which order to list what it finds, other than by how well it fits. */
const SORTING =
  /"(?:sort|sort_?(?:by|order|field)|order|order_?by|ordering)"\s*:\s*(?:\[\s*)?\{?\s*"(?!\s*(?:-|\+)?(?:_?score|relevan|best|simil|match|rank|fit))/i

/** Whether JSON says that what it is about is sorted. */
export function isSorted(json: string): boolean {
  return SORTING.test(json)
}
