/** What a vLLM that selects pages read of a context while it decoded, summed over the steps of an answer. */
export interface PageUsage {
  readonly listed: number
  /** there were; as many as listed where every step read its whole context */
  readonly all: number
  /** times that pages were chosen, and those of them for which the model's uncertainty was the reason */
  readonly choices: number
  readonly backtracks: number
}

/** As usage has it. */
export interface PageDetails {
  readonly listed_pages: number
  readonly all_pages: number
  readonly page_choices: number
  readonly page_backtracks: number
}

export function toPageDetails({ listed, all, choices, backtracks }: PageUsage): PageDetails {
  return { listed_pages: listed, all_pages: all, page_choices: choices, page_backtracks: backtracks }
}

/** Of the details of usage; undefined where an engine does not tell all of it, or what cannot be. */
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
