import type { BlockPattern, CompiledPattern } from './block-pattern.ts'

const FLAGS = /^[imsuv]*$/

/** Checks patterns before they are used; throws an error that names the first invalid one and what is wrong with it. */
export function compilePatterns(patterns: readonly BlockPattern[]): CompiledPattern[] {
  const names = new Set<string>()
  return patterns.map((pattern, i) => {
    const compiled = compilePattern(pattern, pattern.name ?? `patterns[${i}]`)
    if (names.has(compiled.name)) throw new Error(`block pattern "${compiled.name}" is named twice; rename one of them`)
    names.add(compiled.name)
    return compiled
  })
}

function compilePattern({ pattern: source, flags = '' }: BlockPattern, name: string): CompiledPattern {
  const fail = (reason: string): never => {
    throw new Error(`block pattern "${name}" is invalid: ${reason}`)
  }
  if (!FLAGS.test(flags)) fail(`flags may only be of i, m, s, u and v, not "${flags}"`)
  if (source === '') fail('it is empty')
  const expression = toRegExp(source, `${flags}dg`, fail)
  if (expression.exec('') !== null) fail('it matches an empty text, and would match everywhere')
  const groups = findGroups(source)
  const named = groups.indexOf('block')
  const unnamed = groups.indexOf(undefined)
  const labelGroup = groups.indexOf('label')
  return {
    name,
    source,
    flags: expression.flags,
    blockGroup: (named === -1 ? unnamed : named) + 1,
    labelGroup: labelGroup === -1 ? undefined : labelGroup + 1,
  }
}

function toRegExp(source: string, flags: string, fail: (reason: string) => never): RegExp {
  try {
    return new RegExp(source, flags)
  } catch (fault) {
    // `Invalid regular expression: /(/dg: Unterminated group`: the pattern need not be repeated
    return fail((fault as Error).message.split(': ').at(-1)!.toLowerCase())
  }
}

/** The names of a valid pattern's groups in order, undefined for those without one. */
function findGroups(source: string): (string | undefined)[] {
  const groups: (string | undefined)[] = []
  let classes = 0
  for (let at = 0; at < source.length; at++) {
    const char = source[at]
    if (char === '\\') at++
    else if (char === '[') classes++
    else if (char === ']') classes = Math.max(0, classes - 1)
    else if (char === '(' && classes === 0) {
      const name = /^\(\?<([^=!>][^>]*)>/.exec(source.slice(at, at + 80))?.[1]
      if (name !== undefined || source[at + 1] !== '?') groups.push(name)
    }
  }
  return groups
}
