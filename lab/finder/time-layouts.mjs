import { pathToFileURL } from 'node:url'
import { createBodies } from '../../e2e/bench/rag-bodies.ts'

/*
 * Lays out requests of 240 KB with the finder of the checkout in the folder given. Prints as JSON how many milliseconds
 * of this process each takes in the median: to read its JSON, and beyond that to find and identify the blocks of a known
 * template, or to look at a prompt in which nothing is found.
 */

const [folder = ''] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(`${folder}/${path}`).href)
const { readPromptBody } = await load('proxy/prompt/formats/read-prompt-body.ts')
const { layOutPrompts } = await load('proxy/prompt/lay-out-prompt.ts')
const { TemplateBook } = await load('proxy/templates/template-book.ts')
const store = { recall: () => undefined, remember: () => {}, forget: () => {} }
const { warmUp } = await load('proxy/request/warm-up.ts')

const [bytes, warming, measured] = [240_000, 200, 200]
const book = new TemplateBook({ now: () => 0, wallClock: () => 0, keepsWords: () => false })
const known = book.cutsOf('', 'chat_completions')
const state = { tenant: '', conversation: undefined, options: {}, store, known }

// as `serve` does: V8 optimises no pattern that it compiles behind a megabyte of others
warmUp()

function time(task) {
  const before = process.cpuUsage()
  task()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}

function measure(blocks) {
  const next = createBodies({ bytes, blocks }, 1 + blocks)
  const [read, laidOut] = [[], []]
  for (let i = 0; i < warming + measured; i++) {
    const body = next()
    let set
    const reading = time(() => {
      set = readPromptBody('chat_completions', body).set
    })
    const layingOut = time(() => {
      const steps = layOutPrompts(set, undefined, state)
      while (!steps.next().done);
    })
    if (i < warming) continue
    read.push(reading)
    laidOut.push(layingOut)
  }
  return { read: median(read), laidOut: median(laidOut) }
}

const template = measure(15)
process.stdout.write(JSON.stringify({ read: template.read, known: template.laidOut, unknown: measure(0).laidOut }))
