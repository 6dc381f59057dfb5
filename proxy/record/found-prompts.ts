import { noKnownTurns } from '#index/conversation-store.ts'
import { type Call, type RoutedCall, toDecisionInput } from '../call/call.ts'
import { TimeSlices } from '../http/bounds/event-loop.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { Layout } from '../prompt/layout.ts'
import type { Wording } from '../prompt/wording.ts'
import type { DecisionInput } from '../reuse/decision.ts'
import { layOut } from '../reuse/lay-out-request.ts'
import type { ReusedContext } from '../reuse/reused-prompt.ts'
import { weighText } from './weigh-text.ts'

/** A list, with the pointers that are sent, or would be sent, for its blocks. */
export interface FoundContext extends Partial<Pick<ReusedContext, 'order' | 'pointers'>> {
  readonly found: PromptContext
}

/** The prompts of a request as received, and the lists that were found in the prompts. */
export interface FoundPrompts {
  readonly texts: readonly string[]
  /** by prompt: indices of its texts */
  readonly prompts: readonly (readonly number[])[]
  readonly contexts: readonly FoundContext[]
  /** weight of the words added before sending, minus that of the words left out */
  readonly added: number
  /** wording of the order annotation; undefined: none is sent */
  readonly wording: Wording | undefined
}

/**
 * Returns a function that finds the prompts of a request; undefined if they could not be read. Call it soon, since it
 * keeps the texts. In mode off, the blocks are not known yet, so it searches for them in slices of time.
 */
export function findPrompts({ decision }: RoutedCall, call: Call): (() => Promise<FoundPrompts>) | undefined {
  const { worlds } = decision
  const wording = decision.options.annotate === false ? undefined : call.settings.annotations
  if (worlds && worlds.prompts.length > 0) {
    const { texts, prompts, isShadow } = worlds
    const { contexts } = decision
    return async () => {
      const added = isShadow ? 0 : weighAdded(texts, contexts)
      return { texts, prompts, contexts, added, wording }
    }
  }
  if (call.settings.mode !== 'off' || !call.content.received.prompt?.set) return undefined
  const input = toDecisionInput(call)
  return async () => ({ ...toFound(await layOutAside(input)), added: 0, wording })
}

function weighAdded(texts: readonly string[], contexts: readonly ReusedContext[]): number {
  let added = 0
  for (const { found, order, annotation, pointers } of contexts) {
    added += weighText(annotation ?? '')
    for (const { place, start, end, text } of pointers) {
      const { text: at, content } = found.slots[order[place]!]!
      added += weighText(text) - weighText(texts[at]!.slice(content.start + start, content.start + end))
    }
  }
  return added
}

/** Lays out prompts as in shadow mode, but without past turns, which are not remembered in mode off. */
async function layOutAside(input: DecisionInput): Promise<Layout> {
  const steps = layOut({ ...input, permit: undefined, mode: 'shadow' }, { store: noKnownTurns })
  const slices = new TimeSlices()
  for (;;) {
    const step = steps.next()
    // there is always a layout, because the prompts were read
    if (step.done) return step.value!.layout
    if (slices.isOver) await slices.pass()
  }
}

function toFound({ texts, prompts }: Layout): Omit<FoundPrompts, 'added' | 'wording'> {
  const messages = prompts.map((prompt) => prompt.messages)
  return {
    texts,
    prompts: messages.map((own) => own.flatMap(({ message }) => message.texts)),
    contexts: messages.flat().flatMap(({ contexts }) => contexts.map((found) => ({ found }))),
  }
}
