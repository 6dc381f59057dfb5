import { vi } from 'vitest'

/** What a busy machine needs: whoever waits goes on as soon as it is so. */
const patience = { timeout: 20_000 }

const { waitFor } = vi
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { ...patience, ...options })
