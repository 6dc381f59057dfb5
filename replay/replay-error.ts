/** A failure a person can act on: one line of text, and the exit code it ends the command with (2: wrong usage). */
export class ReplayError extends Error {
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.name = 'ReplayError'
    this.exitCode = exitCode
  }
}
