import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { toCapacity, toPositiveInteger } from './options.ts'

describe('the demo’s options', () => {
  const parse = (text: string): unknown => {
    const program = new Command().option('--capacity-tokens <n>', '', toCapacity).exitOverride()
    program.configureOutput({ writeErr: () => undefined })
    return program.parse(['--capacity-tokens', text], { from: 'user' }).opts().capacityTokens
  }

  it('take a number of tokens, or unlimited', () => {
    expect(parse('65536')).toBe(65_536)
    expect(parse('unlimited')).toBe(Number.POSITIVE_INFINITY)
  })

  it.each(['', '0', '-3', '1.5', 'many', 'Infinity'])('refuse %j', (text) => {
    expect(() => toPositiveInteger(text)).toThrow('Not a positive whole number.')
    expect(() => parse(text)).toThrow(/is invalid/)
  })
})
