import { ConfigError } from '../../common/errors.ts'

/** Returns what each of these reads. A ConfigError of one hides none of the others: it throws one with the lines of all. */
export function readAll<T extends readonly unknown[]>(...reads: { readonly [I in keyof T]: () => T[I] }): T {
  const faults: string[] = []
  const all = reads.map((read) => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      faults.push(error.message)
      return undefined
    }
  })
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return all as unknown as T
}
