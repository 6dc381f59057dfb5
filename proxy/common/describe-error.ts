/** An error as it is logged. */
interface DescribedError {
  readonly type: string
  readonly code?: string
  readonly message?: string
  readonly at: readonly string[]
  readonly cause?: DescribedError
}

const deepestCause = 4

/** Describes an error for the log. Omits the message of a syntax error, which quotes the text it could not parse. */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, at: [] }
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error instanceof SyntaxError ? {} : { message: error.message }),
    at: stackOf(error),
    ...(cause instanceof Error && depth < deepestCause ? { cause: describeError(cause, depth + 1) } : {}),
  }
}

/** Returns only the frames: a stack starts with the message, which may have several lines. */
function stackOf({ stack = '' }: Error): string[] {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at .+:\d+:\d+\)?$/.test(line))
    .map((line) => line.slice(7))
}
