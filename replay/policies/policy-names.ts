import { ReplayError } from '../replay-error.ts'

/** Ways to order contexts; `bound` is none, but a row to compare them with. */
export const policyNames = ['rank', 'sorted', 'trie', 'paper', 'greedy', 'hybrid', 'reprise', 'bound'] as const
export type PolicyName = (typeof policyNames)[number]
/** A way to order contexts. */
export type OrderingName = Exclude<PolicyName, 'bound'>

/** Those that order requests as they come. */
export const onlineNames = ['rank', 'sorted', 'trie', 'paper', 'reprise'] as const
export type OnlineName = (typeof onlineNames)[number]

/** Those that plan a batch. */
export const offlineNames = ['rank', 'sorted', 'paper', 'greedy', 'hybrid', 'reprise'] as const
export type OfflineName = (typeof offlineNames)[number]

/** Refuses a policy that orders nothing before it has seen all. */
export function checkOnline(name: PolicyName): asserts name is OnlineName | 'bound' {
  if (name === 'greedy' || name === 'hybrid')
    throw new ReplayError(`the policy ${name} plans whole batches: it is for --mode offline`, 2)
}

/** Refuses a policy that knows nothing of requests to come. */
export function checkOffline(name: PolicyName): asserts name is OfflineName | 'bound' {
  if (name === 'trie') throw new ReplayError('the policy trie orders one by one: it is for --mode online', 2)
}
