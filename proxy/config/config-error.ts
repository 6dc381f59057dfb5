/** Thrown for settings that cannot be used. The message has a line for each fault, with what to write instead. */
export class ConfigError extends Error {
  /** 2 if the command line is at fault */
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
