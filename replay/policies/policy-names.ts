import { ReplayError } from '../replay-error.ts'

/** Policies for ordering contexts. `bound` is not a policy but a row in the report to compare them with. */
export const policyNames = ['rank', 'sorted', 'trie', 'paper', 'greedy', 'hybrid', 'reprise', 'bound'] as const
export type PolicyName = (typeof policyNames)[number]
/** A policy that orders contexts. */
export type OrderingName = Exclude<PolicyName, 'bound'>

/** The policies that order requests as they arrive. */
export const onlineNames = ['rank', 'sorted', 'trie', 'paper', 'reprise'] as const
export type OnlineName = (typeof onlineNames)[number]

/** The policies that plan a batch. */
export const offlineNames = ['rank', 'sorted', 'paper', 'greedy', 'hybrid', 'reprise'] as const
export type OfflineName = (typeof offlineNames)[number]

/** Throws a `ReplayError` for a policy that needs the whole batch. */
export function checkOnline(name: PolicyName): asserts name is OnlineName | 'bound' {
  if (name === 'greedy' || name === 'hybrid')
    throw new ReplayError(`the policy ${name} plans whole batches: it is for --mode offline`, 2)
}

/** Throws a `ReplayError` for a policy that cannot plan ahead. */
export function checkOffline(name: PolicyName): asserts name is OfflineName | 'bound' {
  if (name === 'trie') throw new ReplayError('the policy trie orders one by one: it is for --mode online', 2)
}
