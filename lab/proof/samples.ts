import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** What one prompt asks about one list of texts. */
export interface Sample {
  readonly texts: readonly string[]
  readonly question: string
}

/** Where lists and questions come from. */
export interface Sources {
  readonly passages: readonly Sample[]
  readonly documentation: readonly Sample[]
  readonly code: readonly Sample[]
  readonly notes: readonly Sample[]
  /** so short that a small model can look them up and copy them */
  readonly codes: readonly Sample[]
}

const textCharacters = 300

/** Reads lists and questions from the traces of a folder, with so many samples each; some are made up. */
export function readSources(data: string, count: number): Sources {
  return {
    passages: readTrace(join(data, 'rag_hotpot'), count, 5),
    documentation: readTrace(join(data, 'rag_cookbook_docs'), count, 4),
    code: readTrace(join(data, 'rag_cookbook_code'), count, 5),
    notes: createNotes(count),
    codes: createCodes(count),
  }
}

interface Query {
  readonly query: string
  readonly blocks: readonly string[]
}

function readTrace(folder: string, count: number, texts: number): Sample[] {
  const read = (file: string): unknown[] =>
    gunzipSync(readFileSync(join(folder, file)))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
  const blocks = new Map((read('blocks.jsonl.gz') as { id: string; text: string }[]).map(({ id, text }) => [id, text]))
  return (read('queries.jsonl.gz') as Query[])
    .map(({ query, blocks: ids }) => ({
      question: query,
      texts: ids.slice(0, texts).map((id) => clip(blocks.get(id) ?? '')),
    }))
    .filter((sample) => new Set(sample.texts).size === texts && sample.texts.every((text) => text !== ''))
    .slice(0, count)
}

/** One paragraph, because blank lines separate the texts. */
function clip(text: string): string {
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .slice(0, textCharacters)
    .trim()
}

const things = ['pump', 'north gate', 'boiler', 'elevator', 'server room door', 'main valve', 'generator', 'crane']
const states = ['open', 'closed', 'under repair', 'leaking', 'locked', 'running', 'switched off', 'being painted']
const people = ['Mara', 'Jonas', 'Ines', 'Tomas', 'Ruth', 'Emil', 'Sofia', 'Pavel']

/** Notes that contradict one another: only their order tells which one still holds. */
function createNotes(count: number): Sample[] {
  return Array.from({ length: count }, (_, i) => {
    const thing = things[i % things.length]!
    const texts = states.slice(0, 6).map((_, place) => {
      const at = (i * 3 + place * 5) % states.length
      return `${people[(i + place) % people.length]} reports that the ${thing} is ${states[at]}.`
    })
    return { texts, question: `In what state is the ${thing} now, and who says so?` }
  })
}

/** Facts that do not depend on one another; the question is about one of them. */
function createCodes(count: number): Sample[] {
  return Array.from({ length: count }, (_, i) => {
    const texts = people.slice(0, 6).map((_, place) => {
      const code = 1_000 + ((i * 613 + place * 2_741) % 9_000)
      return `The code of ${people[(i * 3 + place) % people.length]} is ${code}.`
    })
    return { texts, question: `What is the code of ${people[(i * 3 + ((i * 5 + 2) % 6)) % people.length]}?` }
  })
}
