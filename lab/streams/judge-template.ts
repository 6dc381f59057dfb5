import type { BlockSpan } from '#proxy/prompt/context-list.ts'
import { cutLearntList } from '#proxy/templates/learner/cut-learnt-list.ts'
import type { LearntTemplate } from '#proxy/templates/learner/learnt-template.ts'
import { TemplateLearner } from '#proxy/templates/learner/template-learner.ts'
import { keysOf, toPlace } from '#proxy/templates/learner/text-keys.ts'
import { dress, type PromptTemplate } from './marked-templates.ts'
import type { Retrieved } from './traces.ts'

export interface JudgedTemplate {
  /** Request after which it was learnt, from 1. */
  readonly learntAt: number | undefined
  /** Requests since, those cut, and those that were not the template over the documents in the other order. */
  readonly requests: number
  readonly reordered: number
  readonly errors: number
  /** Share of the documents of requests that were cut. */
  readonly movable: number
  readonly template: LearntTemplate | undefined
  readonly wrong: string[]
  readonly milliseconds: number
}

const place = toPlace({ tenant: '', api: 'chat', role: 'user', tool: '' }, false)

/** Feeds a learner with prompts of one template in which nothing is found yet, and reverses what it then can cut. */
export function judgeTemplate(rows: readonly Retrieved[], { render }: PromptTemplate): JudgedTemplate {
  const learner = new TemplateLearner()
  const templates = new Map<string, LearntTemplate>()
  let [requests, reordered, errors, blocks, documents] = [0, 0, 0, 0, 0]
  let learntAt: number | undefined
  let template: LearntTemplate | undefined
  const wrong: string[] = []
  const began = performance.now()
  rows.forEach(({ question, items }, i) => {
    const own = items.map(dress)
    const text = render(own, question)
    if (learntAt !== undefined) requests++
    const known = keysOf(place, text)
      .map((key) => templates.get(key))
      .find((found) => found !== undefined)
    const found = known === undefined ? undefined : cutLearntList(text, known)?.blocks
    if (found === undefined) {
      const learnt = learner.take(place, { text, model: '', system: '', asked: undefined })?.template
      if (learnt !== undefined) {
        templates.set(learnt.key, learnt)
        learntAt ??= i + 1
        template = learnt
      }
      return
    }
    reordered++
    blocks += found.length
    documents += own.length
    const moved = found.map((block) => textOf(text, block)).toReversed()
    let at = 0
    let sent = ''
    found.forEach((block, n) => {
      // a number stays at its place
      sent += text.slice(at, startOf(block)) + moved[n]!
      at = block.end
    })
    sent += text.slice(at)
    // the first document, or the last one, may have been left where it is
    const expected = [0, 1].flatMap((first) => [0, 1].map((last) => reverseBetween(own, first, own.length - last)))
    if (!expected.some((order) => render(order, question) === sent)) {
      errors++
      if (wrong.length < 2) wrong.push(`${found.length} of ${own.length}`)
    }
  })
  const movable = documents === 0 ? 0 : blocks / documents
  return {
    learntAt,
    requests,
    reordered,
    errors,
    movable,
    template,
    wrong,
    milliseconds: (performance.now() - began) / rows.length,
  }
}

function startOf({ start, label }: BlockSpan): number {
  return label?.end ?? start
}

function textOf(text: string, block: BlockSpan): string {
  return text.slice(startOf(block), block.end)
}

function reverseBetween<T>(items: readonly T[], from: number, to: number): T[] {
  return [...items.slice(0, from), ...items.slice(from, to).toReversed(), ...items.slice(to)]
}
