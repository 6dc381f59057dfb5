import { findContextLists } from '#proxy/prompt/forms/found-lists.fixture.ts'
import { hostileTexts } from '#proxy/prompt/forms/hostile-texts.fixture.ts'
import { createBodies } from './rag-bodies.ts'

/** How long it takes to find the blocks in a text. */
export interface DetectionFigures {
  readonly text: string
  /** characters */
  readonly size: number
  /** number of lists found */
  readonly lists: number
  /** milliseconds: the minimum of several runs */
  readonly fastest: number
}

const hostileSize = 5_000_000
const runs = 5

/** Measures block detection in an ordinary prompt and in hostile texts of 5 MB. */
export function* benchDetection(): Generator<DetectionFigures> {
  const { messages } = JSON.parse(createBodies({ bytes: 240_000, blocks: 15 })().toString())
  yield measure('15 documents, 240 KB', messages[1].content)
  for (const [name, write] of Object.entries(hostileTexts)) yield measure(name, write(hostileSize))
}

function measure(name: string, text: string): DetectionFigures {
  let lists = 0
  const times = Array.from({ length: runs }, () => {
    const started = performance.now()
    lists = findContextLists(text).length
    return performance.now() - started
  })
  return { text: name, size: text.length, lists, fastest: Math.min(...times) }
}
