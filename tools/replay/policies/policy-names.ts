/** Policies for ordering contexts. `bound` is not a policy but a row in the report to compare them with. */
export const policyNames = ['rank', 'sorted', 'paper', 'reprise', 'bound'] as const
export type PolicyName = (typeof policyNames)[number]
/** A policy that orders contexts. */
export type OrderingName = Exclude<PolicyName, 'bound'>
