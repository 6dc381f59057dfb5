import { existsSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'

/** A separate browser with an empty profile. */
export interface TestBrowser {
  readonly context: BrowserContext
  readonly close: () => Promise<void>
}

/** The path of Chromium; undefined if it is not installed (e2e/setup-tests.sh installs it). */
export const chromiumPath: string | undefined = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path))

/** Starts headless Chromium. It connects to nothing but the pages it is told to open. */
export async function startTestBrowser(options: { colorScheme?: 'light' | 'dark' } = {}): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'reprise-browser-'))
  const quiet = ['component-update', 'background-networking', 'sync'].map((feature) => `--disable-${feature}`)
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath!,
    headless: true,
    // tests check the scrollbars that a user sees
    ignoreDefaultArgs: ['--hide-scrollbars'],
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet],
    viewport: { width: 1360, height: 1000 },
    ...options,
  })
  return {
    context,
    close: async () => {
      await context.close()
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
