import type { Random } from './random.ts'
import type { Retrieved } from './traces.ts'

/** One list as a request shows it. */
export interface ListRequest {
  readonly items: readonly string[]
  readonly question: string
}

/** Real texts that streams are made of. */
export interface Texts {
  /** Short passages of many subjects. */
  readonly passages: readonly string[]
  /** Parts of programs. */
  readonly code: readonly string[]
  /** Conversations: their turns in order. */
  readonly talks: readonly (readonly string[])[]
  readonly questions: readonly string[]
  readonly byTrace: {
    readonly hotpot: readonly Retrieved[]
    readonly code: readonly Retrieved[]
    readonly docs: readonly Retrieved[]
  }
  /** Prompts of kinds whose order is their meaning: paragraphs of each, by kind. */
  readonly ordered: ReadonlyMap<string, readonly (readonly string[])[]>
}

/** Requests of one application whose lists stand in an order that means something. */
export interface OrderedStream {
  readonly name: string
  /** `residual`: nobody can tell it from a ranked set without words; counted beside the others. */
  readonly expect: 'ordered' | 'residual'
  readonly make: (random: Random, count: number, texts: Texts) => Iterable<ListRequest>
}

/** Makes a stream of lists from a function of the request's number. */
export function stream(
  name: string,
  make: (random: Random, texts: Texts) => (i: number) => ListRequest,
  expect: OrderedStream['expect'] = 'ordered',
): OrderedStream {
  return {
    name,
    expect,
    *make(random, count, texts) {
      const next = make(random, texts)
      for (let i = 0; i < count; i++) yield next(i)
    },
  }
}

/** A question that has nothing to do with the list. */
export function anyQuestion(texts: Texts, i: number): string {
  return texts.questions[i % texts.questions.length]!
}

/** A question in words of the items. */
export function askAbout(random: Random, items: readonly string[], words = 6): string {
  return `Explain: ${items.flatMap((item) => random.sample(item.split(/\s+/), words)).join(' ')}?`
}
