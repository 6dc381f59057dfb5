import { readEngine } from '#proxy/config/read-arguments.ts'
import type { DoctorOptions, DoctorReport, Finding } from '#tools/doctor/finding.ts'
import { runDoctor } from '#tools/doctor/run-doctor.ts'

/** Runs the checks of `reprise doctor --engine ENGINE` and returns its report. */
export function examine(engine: string, options: Partial<DoctorOptions> = {}): Promise<DoctorReport> {
  return runDoctor(
    {
      engine: options.engine ?? readEngine(engine),
      engineKey: undefined,
      model: undefined,
      prompt: undefined,
      adminUrl: undefined,
      adminToken: undefined,
      timeoutMilliseconds: 10_000,
      ...options,
    },
    new AbortController().signal,
  )
}

/** Returns every check with its level, in the order of the report. */
export function levelsOf({ findings }: DoctorReport): Record<string, string> {
  return Object.fromEntries(findings.map(({ check, level }) => [check, level]))
}

/** Returns the finding of a check. */
export function find({ findings }: DoctorReport, check: string): Finding {
  return findings.find((finding) => finding.check === check)!
}
