/** How bad it is; `not_checked` is what could not be looked at, with what to give so that it can be. */
export type Level = 'ok' | 'not_checked' | 'warning' | 'fatal'

/** What one check found. */
export interface Finding {
  /** names the check, for programs */
  readonly check: string
  readonly level: Level
  readonly found: string
  /** what to do, in one line */
  readonly fix?: string
}

/** Everything that was found about one engine. */
export interface DoctorReport {
  readonly engine: string
  /** as given */
  readonly kind: string | null
  readonly fatal: number
  readonly warnings: number
  readonly findings: readonly Finding[]
}
