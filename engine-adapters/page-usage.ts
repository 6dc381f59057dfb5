import { isCount } from './json-object.ts'

/** Pages of its context that a vLLM with page selection read while decoding, summed over the steps of an answer. */
export interface PageUsage {
  readonly listed: number
  /** pages of the whole context; equal to `listed` if every step read all of it */
  readonly all: number
  /** how often pages were chosen; `backtracks`: how often because the model was uncertain */
  readonly choices: number
  readonly backtracks: number
}

/** Reads the details of usage; undefined if a count is missing or the counts are impossible. */
export function readPageUsage(details: Readonly<Record<string, unknown>>): PageUsage | undefined {
  const { listed_pages: listed, all_pages: all, page_choices: choices, page_backtracks: backtracks } = details
  if (!isCount(listed) || !isCount(all) || !isCount(choices) || !isCount(backtracks)) return undefined
  return listed <= all && backtracks <= choices ? { listed, all, choices, backtracks } : undefined
}

export function sumOfPages(a: PageUsage, b: PageUsage): PageUsage {
  return {
    listed: a.listed + b.listed,
    all: a.all + b.all,
    choices: a.choices + b.choices,
    backtracks: a.backtracks + b.backtracks,
  }
}
