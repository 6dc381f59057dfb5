import type { Counter } from 'prom-client'
import type { PageUsage } from '#engine-adapters/page-usage.ts'

/** Metrics of the pages read by decode steps, for requests that asked for fewer than all pages. */
export interface PageMetrics {
  readonly listed: Counter
  readonly all: Counter
  readonly choices: Counter
  readonly backtracks: Counter
}

export function createPageMetrics(count: (name: string, help: string) => Counter): PageMetrics {
  return {
    listed: count('listed_pages_total', 'Pages that decode steps read, of requests that asked for fewer than all'),
    all: count('pages_total', 'Pages that the contexts of the same steps had'),
    choices: count('page_choices_total', 'Times that pages were chosen for a request'),
    backtracks: count('page_backtracks_total', 'Times of these that it was for what was written had become uncertain'),
  }
}

/** Counts what an engine reported for one request, if it reported anything. */
export function countPages(metrics: PageMetrics, pages: PageUsage | undefined): void {
  if (!pages) return
  metrics.listed.inc(pages.listed)
  metrics.all.inc(pages.all)
  metrics.choices.inc(pages.choices)
  metrics.backtracks.inc(pages.backtracks)
}
