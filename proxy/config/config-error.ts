/** Settings that cannot be used. The message has a line for each fault, saying which and what to write instead. */
export class ConfigError extends Error {
  /** 2 when the command line is at fault */
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
