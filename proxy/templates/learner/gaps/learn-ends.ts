import { commonEnd, commonStart } from '../../common-edges.ts'
import type { LearntTemplate, TemplateEnd } from '../learnt-template.ts'
import type { Segments } from './judge-contents.ts'

const fewestSamples = 3
/** Longest text next to a document that is learnt where not all before or behind it is the same. */
const longestNearest = 96
/** Longest text before or behind a list that is kept as a whole. */
const longestWhole = 20_000
/** Characters by which a document is looked up. */
const hint = 24

/**
 * What stands before the first document and behind the last: what is left there of texts that begin or end with a document
 * known from the middle of others.
 */
export function learnEnds(
  lists: readonly Segments[],
  seen: ReadonlyMap<string, number>,
): Pick<LearntTemplate, 'open' | 'end'> {
  const documents = [...seen.keys()].filter((content) => content.length >= hint)
  const byBegin = groupBy(documents, (content) => content.slice(0, hint))
  const byEnd = groupBy(documents, (content) => content.slice(-hint))
  const opens = lists.flatMap(({ text, gaps }) => {
    const first = text.slice(0, gaps[0]!.start)
    const own = byEnd.get(first.slice(-hint))?.filter((content) => first.endsWith(content)) ?? []
    return own.length === 1 ? [first.slice(0, first.length - own[0]!.length)] : []
  })
  const ends = lists.flatMap(({ text, gaps }) => {
    const last = text.slice(gaps.at(-1)!.end)
    const own = byBegin.get(last.slice(0, hint))?.filter((content) => last.startsWith(content)) ?? []
    return own.length === 1 ? [last.slice(own[0]!.length)] : []
  })
  return { open: endOf(opens, 'open'), end: endOf(ends, 'end') }
}

function endOf(samples: readonly string[], side: 'open' | 'end'): TemplateEnd | undefined {
  if (samples.length < fewestSamples) return undefined
  const [first] = samples as [string]
  if (samples.every((sample) => sample === first) && first.length <= longestWhole) return { kind: 'whole', text: first }
  const nearest =
    side === 'open'
      ? first.slice(first.length - Math.min(longestNearest, commonEnd(samples)))
      : first.slice(0, Math.min(longestNearest, commonStart(samples)))
  // not half a character
  const text = nearest.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return text.length >= 2 ? { kind: 'nearest', text } : undefined
}

function groupBy(items: readonly string[], keyOf: (item: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}
