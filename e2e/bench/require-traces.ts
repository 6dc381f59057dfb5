/** Ends the process with its usage and status 2 if no trace is named. */
export function requireTraces(traces: readonly string[], usage: string): readonly string[] {
  if (traces.length > 0) return traces
  process.stderr.write(`usage: npm run ${usage}\n`)
  process.exit(2)
}
