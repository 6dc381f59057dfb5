import { IndexPolicy, planTenants } from '#tools/replay/policies/policies.ts'
import type { OnlinePolicy, OrderingName, PlanBatch } from '#tools/replay/policies/policy.ts'
import { planByGreedy } from './plan-by-greedy.ts'
import { planByHybrid } from './plan-by-hybrid.ts'
import { TrieOrdering } from './trie-ordering.ts'

/** The policies that order requests as they arrive. */
export const onlineNames = ['rank', 'sorted', 'trie', 'paper', 'reprise'] as const
/** The policies that plan a batch. */
export const offlineNames = ['rank', 'sorted', 'paper', 'greedy', 'hybrid', 'reprise'] as const
export type ComparedName = (typeof onlineNames)[number] | (typeof offlineNames)[number]

interface RivalPolicy {
  readonly name: string
  readonly online?: OnlinePolicy
  readonly offline?: PlanBatch
}

/** Returns a rival without any history, or the name of a policy of the product. Every run needs its own. */
export function createPolicy(name: ComparedName): RivalPolicy | OrderingName {
  if (name === 'trie') return { name, online: new IndexPolicy(() => new TrieOrdering()) }
  if (name === 'greedy') return { name, offline: (requests) => planTenants(requests, planByGreedy) }
  if (name === 'hybrid') return { name, offline: (requests) => planTenants(requests, planByHybrid) }
  return name
}
