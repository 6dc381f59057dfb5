/**
 * What a tool does, judged by its name: `search` finds texts among many, `read` returns one text or events in order.
 */
export type ToolKind = 'search' | 'read' | 'other'

const SEARCHING =
  /search|retriev|look_?up|recall|rag(?![a-z])|knowledge|find_?(?:docs?|documents?|passages?|chunks?|notes?|memor|similar|relevant)|similar|semantic|wikipedia|tavily|arxiv|pub_?med|scholar|stack_?(?:exchange|overflow)|duck_?duck_?go|(?:ask|consult)_?(?:docs?|documents?)|memor(?:y|ies)/
// a plain query goes to databases, whose rows have an order
const QUERYING =
  /query_?(?:engine|index|docs?|documents?|docstore|kb|vector\w*|notes|library|corpus|collection|store|wiki|handbook|manuals?|policies|faqs?)(?:_|$)|(?:docs?|documents?|kb|vector|vectors|index|notes|library|corpus|wiki|handbook)_query/
const READING =
  /(?:^|_)(?:read|open|cat|view|show|load|run|exec(?:ute)?|command|shell|bash|terminal|console|git|log|logs|history|transcri\w*|diff|list|ls|tail|head|split|parse|page|pages|timeline|feed|activity|messages?|comments?|channel|thread|inbox|calendar|steps?|recipe|procedure|describe|schema|sql|select|table|rows|leaderboard|rankings?|ocr|directions|route|playlist|queue)(?:_|$)/

// things in time order stay in order, even if they are searched
const TIMED =
  /(?:^|_)(?:logs?|e_?mails?|mails?|commits?|threads?|messages?|chats?|conversations?|events?|timelines?|history|inbox|calendar|transcripts?|feeds?|activity|activities|channels?|comments?|diffs?|changelogs?|audits?|traces?|alerts?|notifications?|posts?|tweets?|meetings?|appointments?|latest|recent|newest|news|headlines?|stories|trending|top|updates|releases)(?:_|$)/

/** Returns what a tool of this name does. Undefined if it has no name. */
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

/** Arguments that ask a tool for an order other than by relevance. */
const SORTING =
  /"(?:sort|sort_?(?:by|order|field)|order|order_?by|ordering)"\s*:\s*(?:\[\s*)?\{?\s*"(?!\s*(?:-|\+)?(?:_?score|relevan|best|simil|match|rank|fit))/i

/** Returns whether a tool's JSON arguments, or other JSON, specify an order. */
export function isSorted(json: string): boolean {
  return SORTING.test(json)
}
