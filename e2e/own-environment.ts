/** The environment without what tests and benchmarks are told by it: to the product, those are unknown variables. */
export const ownEnvironment: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^REPRISE_(TEST|BENCH)_/.test(name)),
)
