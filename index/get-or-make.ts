/** Returns the value of a key, which is made if there is none. */
export function getOrMake<Key, Value extends object>(
  values: { get(key: Key): Value | undefined; set(key: Key, value: NoInfer<Value>): unknown },
  key: Key,
  make: () => NoInfer<Value>,
): Value {
  const known = values.get(key)
  if (known) return known
  const made = make()
  values.set(key, made)
  return made
}
