/** Ways to order contexts; `bound` is none, but a row to compare them with. */
export const policyNames = ['rank', 'sorted', 'paper', 'reprise', 'bound'] as const
export type PolicyName = (typeof policyNames)[number]
/** A way to order contexts. */
export type OrderingName = Exclude<PolicyName, 'bound'>
