import { vi } from 'vitest'

/** The timeout a busy machine needs; it costs nothing elsewhere, since a wait ends as soon as its condition holds. */
const patience = { timeout: 20_000 }

const { waitFor } = vi
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { ...patience, ...options })
