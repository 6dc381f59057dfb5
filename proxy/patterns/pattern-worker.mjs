import { Script } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'

/*
 * Runs block patterns in a separate thread, text by text in the order of the conversation. What is found in a text does
 * not depend on later texts, so that turns are read the same when the conversation continues. A pattern that takes too
 * long on a text is stopped there, and the others go on. Plain JavaScript, since a worker does not run under the
 * product's loader.
 */

const patterns = workerData.patterns.map((pattern) => ({
  ...pattern,
  expression: new RegExp(pattern.source, pattern.flags),
}))
/** Shows the main thread which pattern is running: a thread that is stuck in one cannot be asked. */
const progress = new Int32Array(workerData.progress)
const ALL_DONE = -2
/** A pattern that was stopped in this many texts is not tried in later ones. */
const MOST_STOPS = 2
/** The part of the time limit that is kept for returning the answer. */
const KEPT = 1 / 16

// only code that a script with a timeout runs can be stopped without ending its thread
const script = new Script('run()')
let step
globalThis.run = () => step()

parentPort.on('message', ({ texts, places, limitMs, isGuarded }) => {
  const job = createJob(texts, places)
  if (isGuarded) runGuarded(job, limitMs)
  else job.run()
  Atomics.store(progress, 0, ALL_DONE)
  parentPort.postMessage({ found: job.found, timedOut: job.timedOut() })
})
parentPort.postMessage({ ready: true })

function runGuarded(job, limitMs) {
  const end = performance.now() + limitMs * (1 - KEPT)
  step = job.run
  // each time half of what is left, so that there is always some for what follows
  for (let left = limitMs; !job.isDone() && left > 0; left = end - performance.now()) {
    const timeout = Math.max(1, Math.floor(left / 2))
    if (!isInTime(timeout)) job.stop(timeout)
  }
}

function isInTime(timeout) {
  try {
    script.runInThisContext({ timeout })
    return true
  } catch (error) {
    if (error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  }
}

/** Creates a job of all patterns over all texts; it can be stopped anywhere and continues from there. */
function createJob(texts, places) {
  const found = places.map(() => texts.map(() => []))
  const stops = places.map(() => 0)
  const total = texts.length * places.length
  let next = 0
  let began = 0
  return {
    found,
    isDone: () => next === total,
    run: () => {
      for (; next < total; next++) {
        const at = next % places.length
        if (stops[at] === MOST_STOPS) continue
        const text = Math.floor(next / places.length)
        Atomics.store(progress, 0, places[at])
        began = performance.now()
        found[at][text] = findMatches(patterns[places[at]], texts[text])
      }
    },
    /** Skips what was running, unless it has hardly begun: then other work took the time, and it is tried again. */
    stop: (timeout) => {
      if (next === total || performance.now() - began < timeout / 2) return
      stops[next % places.length]++
      next++
    },
    /**
     * Returns the indices of the patterns that were stopped; if none was and time ran out, of the one that was running.
     */
    timedOut: () => {
      const stopped = places.filter((_, at) => stops[at] > 0)
      return stopped.length === 0 && next < total ? [places[next % places.length]] : stopped
    },
  }
}

/**
 * Returns the matches of a pattern in a text, five numbers each: its end, then start and end of block and label (-1 if
 * none).
 */
function findMatches({ expression, blockGroup, labelGroup }, text) {
  const spans = []
  expression.lastIndex = 0
  for (const match of text.matchAll(expression)) {
    const block = match.indices[blockGroup]
    if (block === undefined || block[0] === block[1]) continue
    const label = (labelGroup === undefined ? undefined : match.indices[labelGroup]) ?? [-1, -1]
    spans.push(match.indices[0][1], block[0], block[1], label[0], label[1])
    if (spans.length > 5 * workerData.mostMatches) return []
  }
  return spans
}
