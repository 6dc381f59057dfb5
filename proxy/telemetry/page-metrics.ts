import type { PageUsage } from '#engine-adapters/page-usage.ts'
import type { Metrics } from '../metrics.ts'

/** Counts the pages that an engine reported for one request, if it reported any. */
export function countPages(metrics: Metrics, pages: PageUsage | undefined): void {
  if (!pages) return
  metrics.listedPages.inc(pages.listed)
  metrics.allPages.inc(pages.all)
  metrics.pageChoices.inc(pages.choices)
  metrics.pageBacktracks.inc(pages.backtracks)
}
