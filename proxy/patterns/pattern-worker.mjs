import { parentPort, workerData } from 'node:worker_threads'

/*
 * Runs block patterns in a thread of its own, which is ended when one of them takes too long. Plain JavaScript, since a
 * worker does not run under the loader that the product runs under.
 */

const patterns = workerData.patterns.map((pattern) => ({
  ...pattern,
  expression: new RegExp(pattern.source, pattern.flags),
}))
/** Tells the main thread which pattern is at work: it cannot be asked once it has lost itself. */
const progress = new Int32Array(workerData.progress)
const ALL_DONE = -2

parentPort.on('message', ({ texts, places }) => {
  const found = places.map((place) => {
    Atomics.store(progress, 0, place)
    return texts.map((text) => findMatches(patterns[place], text))
  })
  Atomics.store(progress, 0, ALL_DONE)
  parentPort.postMessage({ found })
})
parentPort.postMessage({ ready: true })

/** The matches of a pattern in a text, five numbers each: its end, then block and label (-1 without one) from and to. */
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
