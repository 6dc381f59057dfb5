import type { ReuseWish } from '#engine-adapters/any-position-reuse.ts'
import { ProxyError } from './errors.ts'

/** What a request may say; what it does not name stays as configured, or on. */
export interface RequestOptions {
  readonly reorder?: boolean
  readonly dedup?: boolean
  /** whether de-duplication replaces parts of blocks too; off unless switched on */
  readonly overlaps?: boolean
  readonly annotate?: boolean
  readonly schedule?: boolean
  /** whether citations in the answer are mapped back to the caller's labels */
  readonly citations?: boolean
  /** states that the order of the request's lists means nothing */
  readonly set?: boolean
  /** for engines that reuse KV at any position; if not given, the engine decides */
  readonly reuse?: ReuseWish
  /** for a vLLM that selects pages: share of its context's pages that decode steps may read */
  readonly pages?: number
  /** positions of its blocks in the order to send them, counted across its lists as `POST /v1/explain` counts them */
  readonly order?: readonly number[]
}

type Read = boolean | ReuseWish | number[] | undefined

/** How each option is read from its value; undefined: it has no such value. */
const readers: Readonly<Record<string, (value: string | number) => Read>> = {
  reorder: readOnOff,
  dedup: readOnOff,
  overlaps: readOnOff,
  annotate: readOnOff,
  schedule: readOnOff,
  citations: (value) => (value === 'remap' ? true : value === 'keep' ? false : undefined),
  set: (value) => value === '' || readOnOff(value),
  reuse: (value) => (value === 'off' ? value : readShare(value)),
  pages: readShare,
  order: (value) => (positions.test(String(value)) ? String(value).split('.').map(Number) : undefined),
}

const known =
  'reorder=on|off, dedup=on|off, overlaps=on|off, annotate=on|off, schedule=on|off, citations=remap|keep, set, reuse=off|0…1, pages=0…1, order=2.0.1'

const shares = /^(0|1|0?\.\d+|[01]\.\d+)$/
const positions = /^\d{1,4}(\.\d{1,4})*$/

/** The value of an option in JSON; in a header every value is a string. */
export type OptionValue = string | number | boolean

/**
 * Reads `x-reprise-options`, for example `reorder=off,reuse=0.3`. Throws `invalid_body` for unknown or repeated
 * options.
 */
export function readOptions(header: string | undefined): RequestOptions {
  const settings = (header ?? '').split(',').filter((setting) => setting.trim() !== '')
  return toOptions(settings.map(splitSetting))
}

/** Collects the given options. Throws `invalid_body` for an unknown option, and for one that is set twice. */
export function toOptions(settings: readonly (readonly [name: string, value: OptionValue])[]): RequestOptions {
  const options: Record<string, Read> = {}
  for (const [written, value] of settings) {
    const name = written.trim().toLowerCase()
    const read = Object.hasOwn(readers, name) ? readers[name]!(plainValue(value)) : undefined
    if (read === undefined) {
      const message = `'${written.trim()}=${value}' is not an option of reprise; known are ${known}.`
      throw new ProxyError('invalid_body', message)
    }
    if (Object.hasOwn(options, name))
      throw new ProxyError('invalid_body', `'${name}' is given twice in the options of reprise: give it once.`)
    options[name] = read
  }
  return options
}

/** Splits at the first `=`: the value may contain more of them. */
function splitSetting(setting: string): [name: string, value: string] {
  const end = setting.indexOf('=')
  return end === -1 ? [setting, ''] : [setting.slice(0, end), setting.slice(end + 1).trim()]
}

function plainValue(value: OptionValue): string | number {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'string' ? value.trim().toLowerCase() : value
}

function readOnOff(value: string | number): boolean | undefined {
  return value === 'on' ? true : value === 'off' ? false : undefined
}

function readShare(value: string | number): number | undefined {
  if (typeof value === 'string' && !shares.test(value)) return undefined
  const share = Number(value)
  return share >= 0 && share <= 1 ? share : undefined
}

/** Reads `x-reprise-priority`, a whole number; lower is sooner. Throws `invalid_body` for anything else. */
export function readPriority(header: string | undefined): number {
  const priority = Number(header ?? 0)
  if (Number.isSafeInteger(priority) && header?.trim() !== '') return priority
  throw new ProxyError(
    'invalid_body',
    `x-reprise-priority is '${header}': it has to be a whole number of at most 15 digits, as in 5 or -1.`,
  )
}

/**
 * What is done to prompts (docs/templates.md). `auto`: what is stated is rewritten, and lists of templates that words,
 * traffic and the model all permit; `ask`: what is stated, and templates that a person confirmed; `on`: what no word
 * forbids; `shadow`: nothing, only computed; `off`: nothing.
 */
export type Mode = 'auto' | 'ask' | 'on' | 'shadow' | 'off'
