import { createRequire } from 'node:module'
import type { Document } from 'yaml'
import { ConfigError } from '../../common/errors.ts'
import type { SettingPath } from '../faults/check-settings.ts'
import { oneLine } from '../faults/write-fault.ts'

/** A YAML or JSON document that was read. */
interface YamlDocument {
  readonly value: unknown
  /** `NAME:LINE` of the value at a path, or of its nearest existing parent */
  locate(path: SettingPath): string
}

// loaded when it is first needed: 30 ms and 2 MB
const loadYaml = (): typeof import('yaml') => createRequire(import.meta.url)('yaml') as typeof import('yaml')

/** More aliases than this are considered an attempt to exhaust memory. */
const maxAliases = 1_000

/** Reads YAML, which includes JSON. Throws a ConfigError with a line for each fault, `NAME:LINE:COLUMN: …`. */
export function readYaml(name: string, text: string): YamlDocument {
  const { isNode, LineCounter, parseDocument } = loadYaml()
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    const messages = faults.map(({ code, message, pos: [offset] }) => {
      const { line, col } = lines.linePos(code === 'MISSING_CHAR' ? startOfQuote(document, offset) : offset)
      return oneLine(`${name}:${line}:${col}: ${message}`)
    })
    throw new ConfigError(messages.join('\n'))
  }
  const locate = (path: SettingPath): string => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return `${name}:${lines.linePos(node.range[0]).line}`
    }
    return name
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    if (isEndless(value)) throw new Error('an alias stands inside what its anchor names')
    return { value, locate }
  } catch (error) {
    throw new ConfigError(oneLine(`${name}: ${(error as Error).message}`))
  }
}

/** The start of the quoted text that lacks its closing quote at an offset; it may be many lines earlier. */
function startOfQuote(document: Document, offset: number): number {
  let start = offset
  loadYaml().visit(document, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE') && range && range[0] <= offset && range[1] >= offset) start = range[0]
    },
  })
  return start
}

/** Whether a value contains itself. */
function isEndless(value: unknown, around: readonly unknown[] = []): boolean {
  if (typeof value !== 'object' || value === null) return false
  return around.includes(value) || Object.values(value).some((part) => isEndless(part, [...around, value]))
}
