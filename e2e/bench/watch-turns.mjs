import { readFileSync } from 'node:fs'

/*
 * Loaded into a server in front of its own code: asked by a message, it answers with the longest turn of the event loop
 * since it was asked last, in milliseconds that the thread computed. What the machine does besides is not in it. Only
 * Linux tells.
 */

const ownTurn = 1
const stat = `/proc/self/task/${process.pid}/schedstat`

/** Milliseconds that this thread was on a processor. */
function computed() {
  try {
    return Number(readFileSync(stat, 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    return undefined
  }
}

let last = computed()
let longest = last === undefined ? undefined : 0
setInterval(() => {
  const now = computed()
  if (now === undefined) return
  longest = Math.max(longest, now - last)
  last = now
}, ownTurn).unref()

process.on('message', () => {
  process.send({ longest })
  if (longest !== undefined) longest = 0
})
process.channel?.unref()
