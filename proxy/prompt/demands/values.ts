import { toArray, toObject } from '../../common/json/json-value.ts'

export type Members = Readonly<Record<string, unknown>>

/** Whether a member says something: clients write `null`, `false`, `""` and `[]` for what they do not want. */
export function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== false && value !== ''
}

/** Returns SGLang's sampling parameters, one object for each prompt or one for all. */
export function samplingOf({ sampling_params: sampling }: Members): readonly Members[] {
  return [...toArray(sampling).map(toObject), toObject(sampling)]
}
