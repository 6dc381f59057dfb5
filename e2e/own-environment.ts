/**
 * The environment without the variables for tests and benchmarks, which the product would reject as unknown. Tests send
 * too few requests for evidence, so lists are moved as soon as they are found.
 */
export const ownEnvironment: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^REPRISE_(TEST|BENCH)_/.test(name))),
  REPRISE_MODE: 'on',
}
