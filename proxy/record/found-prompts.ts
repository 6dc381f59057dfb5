import { forgetfulStore } from '#index/conversation-store.ts'
import { TimeSlices } from '../bounds/time-slices.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { Layout } from '../prompt/layout.ts'
import type { Call, RoutedCall } from '../request/call/call.ts'
import { toDecisionInput } from '../request/call/to-decision-input.ts'
import type { DecisionInput } from '../reuse/decision.ts'
import { layOut } from '../reuse/lay-out-request.ts'

/** The prompts of a request as received, and the lists that were found in them. */
export interface FoundPrompts {
  readonly texts: readonly string[]
  /** by prompt: indices of its texts */
  readonly prompts: readonly (readonly number[])[]
  readonly contexts: readonly PromptContext[]
}

/**
 * Returns a function that finds the prompts of a request; undefined if they could not be read. To be called soon, since
 * it keeps the texts. In mode off nobody has looked for blocks, so it looks for them then, in slices of time.
 */
export function findPrompts({ decision }: RoutedCall, call: Call): (() => Promise<FoundPrompts>) | undefined {
  const { worlds } = decision
  if (worlds && worlds.prompts.length > 0) {
    const { texts, prompts } = worlds
    return async () => ({ texts, prompts, contexts: decision.contexts.map(({ found }) => found) })
  }
  if (call.settings.mode !== 'off' || !call.received.prompt?.set) return undefined
  const input = toDecisionInput(call)
  return async () => toFound(await layOutAside(input))
}

/** Lays out prompts as for shadow mode, without any memory of past turns: in mode off there is none. */
async function layOutAside(input: DecisionInput): Promise<Layout> {
  const steps = layOut({ ...input, mode: 'shadow' }, { store: forgetfulStore, now: () => 0 })
  const slices = new TimeSlices()
  for (;;) {
    const step = steps.next()
    // a request whose prompts were read is laid out
    if (step.done) return step.value!.layout
    if (slices.isOver) await slices.pass()
  }
}

function toFound({ texts, prompts }: Layout): FoundPrompts {
  const messages = prompts.map((prompt) => prompt.messages)
  return {
    texts,
    prompts: messages.map((own) => own.flatMap(({ message }) => message.texts)),
    contexts: messages.flat().flatMap(({ contexts }) => contexts),
  }
}
