/** A failure that a user can act on: one line of text, and the command's exit code. */
export class DemoError extends Error {
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.name = 'DemoError'
    this.exitCode = exitCode
  }
}
