/** Takes all steps of a piece of work in one go, and returns what comes of it. */
export function finish<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
