/** The shape of a benchmark request. */
export interface BodyShape {
  /** approximate length of its body */
  readonly bytes: number
  /** 0: a plain question, nothing to reuse */
  readonly blocks: number
}

const corpusSize = 400
const topicSize = 24
const words =
  'the engine holds a prefix of every prompt it has seen and a request that begins with the same tokens skips their prefill so latency falls while throughput grows; retrieval however returns passages ranked anew for each question, which moves what was equal'.split(
    ' ',
  )

/** Creates a random generator that is the same in every run (mulberry32). */
export function createChance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * below)
  }
}

/** Creates distinct chat requests of one shape, with blocks as from retrieval: by topic, overlapping, in any order. */
export function createBodies({ bytes, blocks }: BodyShape, seed = 1): () => Buffer {
  const chance = createChance(seed)
  const size = blocks === 0 ? 0 : Math.max(8, Math.floor((bytes - 220) / blocks) - 42)
  const corpus = blocks === 0 ? [] : Array.from({ length: corpusSize }, (_, k) => jsonText(documentText(k, size)))
  let count = 0
  return () => {
    count += 1
    const question = `Question ${seed}-${count}: why is it so?`
    const user =
      blocks === 0
        ? `${jsonText(documentText(chance(corpusSize), bytes - 200))}\\n\\n${question}`
        : `<documents>\\n${pickBlocks(chance, blocks)
            .map((k, i) => `<document index=\\"${i + 1}\\">\\n${corpus[k]}\\n</document>`)
            .join('\\n')}\\n</documents>\\n\\n${question}`
    return Buffer.from(
      `{"model":"m","messages":[{"role":"system","content":"Answer from the documents."},{"role":"user","content":"${user}"}]}`,
    )
  }
}

/** Picks distinct blocks in no order: most are of one topic, and popular topics are more frequent. */
function pickBlocks(chance: (below: number) => number, blocks: number): number[] {
  const topics = Math.floor(corpusSize / topicSize)
  const topic = Math.min(chance(topics), chance(topics))
  const picked = new Set<number>()
  while (picked.size < blocks) {
    const isOfTopic = chance(5) > 0 && picked.size < topicSize
    picked.add(isOfTopic ? topic * topicSize + chance(topicSize) : chance(corpusSize))
  }
  return [...picked]
}

/** Returns text in lines, of `size` characters; every tenth document has non-ASCII typography, as on the web. */
function documentText(k: number, size: number): string {
  const chance = createChance(k + 1_000)
  let text = k % 10 === 3 ? `“No. ${k}” — ` : `No. ${k}: `
  let lineLength = 0
  while (text.length < size) {
    const word = words[chance(words.length)]!
    lineLength += word.length + 1
    text += word + (lineLength > 80 ? '\n' : ' ')
    if (lineLength > 80) lineLength = 0
  }
  return `${text.slice(0, size - 1)}.`
}

function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
