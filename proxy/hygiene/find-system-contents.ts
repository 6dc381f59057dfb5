import { elementSpans, memberSpans, type Span } from '../json/json-spans.ts'

const systemRoles = new Set(['"system"', '"developer"'])

// most messages begin with their role, so that a long one need not be read to its end
const OTHER_ROLE = /\{\s{0,16}"role"\s{0,16}:\s{0,16}"(?!system"|developer")[\w-]{1,32}"/y

/** Finds the contents of system messages in a request body of any API: strings or arrays of parts. */
export function findSystemContents(json: string, members: ReadonlyMap<string, Span>): Span[] {
  const own = [members.get('system'), members.get('instructions')].filter((span) => span !== undefined)
  return [...own, ...[members.get('messages'), members.get('input')].flatMap((list) => readMessages(json, list))]
}

function readMessages(json: string, list: Span | undefined): Span[] {
  if (!list || json[list.start] !== '[') return []
  return elementSpans(json, list.start).flatMap((message) => {
    OTHER_ROLE.lastIndex = message.start
    if (json[message.start] !== '{' || OTHER_ROLE.test(json)) return []
    const members = memberSpans(json, message.start)
    const role = members.get('role')
    const content = members.get('content')
    return role && content && systemRoles.has(json.slice(role.start, role.end)) ? [content] : []
  })
}
