import type { DecisionInput } from '../reuse/decision.ts'
import type { Call } from './call.ts'

/** Extracts from a call what `decide` needs. */
export function toDecisionInput(call: Call): DecisionInput {
  const { content, settings, caller, conversation, options, known, permit } = call
  const { budgetMilliseconds, isRefused } = call
  const { mode, wording } = settings
  return {
    received: content.received,
    mode,
    isRefused,
    tenant: caller.tenant,
    conversation,
    options,
    wording,
    certain: content.certain,
    known,
    permit,
    budgetMilliseconds,
  }
}
