/** An error that a user can act on: one line of text and the exit code of the command (2: wrong usage). */
export class ReplayError extends Error {
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.name = 'ReplayError'
    this.exitCode = exitCode
  }
}
