import { afterEach, describe, expect, it } from 'vitest'
import type { BlockPattern } from './block-pattern.ts'
import { type PatternFault, PatternFinder, type PatternLimits } from './pattern-finder.ts'

const finders: PatternFinder[] = []
afterEach(async () => {
  await Promise.all(finders.splice(0).map((finder) => finder.close()))
})

// generous, so that even on a busy machine only what never ends exceeds it
const patience = { timeoutMs: 20_000 }
const endless = { name: 'endless', pattern: '(?:(?:a+)+)+$' }
const trap = `${'a'.repeat(60)}!`

function create(patterns: BlockPattern[], limits: Partial<PatternLimits> = patience) {
  const faults: PatternFault[] = []
  const finder = new PatternFinder(patterns, limits, (fault) => faults.push(fault))
  finders.push(finder)
  return { finder, faults }
}

async function blocksOf(patterns: BlockPattern[], text: string): Promise<string[][]> {
  const { finder, faults } = create(patterns)
  const [lists] = await finder.find([text])
  expect(faults).toEqual([])
  return lists!.map(({ blocks }) => blocks.map(({ start, end }) => text.slice(start, end)))
}

describe('what a pattern matches', () => {
  const text = 'Notes:\n* 7 = rain\n* 9 = sun and\n  wind\n* 8 = 雨 ❄️\nWhy?'

  it('is a block: the whole match, its first group, or the group called block', async () => {
    expect(await blocksOf([{ pattern: '^\\* .*$', flags: 'm' }], text)).toEqual([
      ['* 7 = rain', '* 9 = sun and', '* 8 = 雨 ❄️'],
    ])
    expect(await blocksOf([{ pattern: '= (.*)' }], text)).toEqual([['rain', 'sun and', '雨 ❄️']])
    expect(await blocksOf([{ pattern: '(\\*) \\d = (?<block>[^*]*)\\n' }], text)).toEqual([
      ['rain', 'sun and\n  wind', '雨 ❄️'],
    ])
  })

  it('is no list when it matches once, or not at all', async () => {
    expect(await blocksOf([{ pattern: 'rain' }, { pattern: 'snow' }], text)).toEqual([])
  })

  it('gives the first pattern the place that several of them match', async () => {
    const patterns = [{ pattern: '\\* 9.*|Why' }, { pattern: '\\* \\d' }, { pattern: 'No|tes' }]
    expect(await blocksOf(patterns, text)).toEqual([
      ['No', 'tes'],
      ['* 9 = sun and', 'Why'],
    ])
  })

  it('moves with its label, and a label that counts up belongs to the place', async () => {
    const { finder } = create([{ pattern: '^#(?<label>\\w+) (?<block>.*)$', flags: 'm' }])
    const counted = '#1 rain\n#2 sun'
    const named = '#b rain\n#a sun'
    const found = await finder.find([counted, named, 'nothing'])
    expect(found.map((lists) => lists.map(({ positional }) => positional))).toEqual([[true], [false], []])
    const [block] = found[0]![0]!.blocks
    expect([counted.slice(block!.start, block!.end), counted.slice(block!.label!.start, block!.label!.end)]).toEqual([
      '1 rain',
      '1',
    ])
    expect(counted.slice(block!.contentStart, block!.contentEnd)).toBe('rain')
    expect(found[0]![0]!.end).toBe(counted.length)
  })
})

describe('a pattern that takes too long', () => {
  it('costs the request its blocks and nothing else, and the next request finds its own', async () => {
    const { finder, faults } = create([endless], { timeoutMs: 500 })
    expect(await finder.find([trap, 'x'])).toEqual([[], []])
    expect(faults).toEqual([{ reason: 'pattern_timeout', pattern: 'endless' }])
    const [lists] = await finder.find(['aa'])
    expect(lists).toEqual([])
    expect(faults).toHaveLength(1)
  })

  it('takes nothing from the other patterns, nor from itself in the texts in front of it and behind it', async () => {
    const rain = { name: 'rain', pattern: 'rain' }
    const wild = { name: 'wild', pattern: '(?:(?:a+)+)+b' }
    for (const patterns of [
      [rain, wild],
      [wild, rain],
    ]) {
      const { finder, faults } = create(patterns, { timeoutMs: 2_000 })
      const early = ['rain rain', 'ab aab', 'ab rain rain ab']
      const found = await finder.find([...early, `rain rain ${trap}`, 'rain rain', 'ab ab'])
      expect(found.map((lists) => lists.length)).toEqual([1, 1, 1, 1, 1, 1])
      expect(found.slice(0, 3)).toEqual(await finder.find(early))
      expect(faults).toEqual([{ reason: 'pattern_timeout', pattern: 'wild' }])
    }
  })

  it('is stopped in two texts of a request and leaves time for the others in all of them', async () => {
    const rain = { name: 'rain', pattern: 'rain' }
    const { finder, faults } = create([endless, rain], { timeoutMs: 6_000 })
    const found = await finder.find(Array.from({ length: 30 }, () => `rain rain ${trap}`))
    expect(found.map((lists) => lists.length)).toEqual(Array.from({ length: 30 }, () => 1))
    expect(faults).toEqual([{ reason: 'pattern_timeout', pattern: 'endless' }])
  }, 30_000)

  it('leaves the main thread free while it runs', async () => {
    const { finder } = create([endless], { timeoutMs: 500 })
    let ticks = 0
    const timer = setInterval(() => ticks++, 10)
    await finder.find([trap])
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(3)
  })

  it('is switched off after some times in a row, and the others go on', async () => {
    const { finder, faults } = create([{ name: 'rain', pattern: 'rain' }, endless], { timeoutMs: 800, mostTimeouts: 2 })
    const text = `rain rain ${trap}`
    await finder.find([text])
    await finder.find(['rain rain'])
    await finder.find([text])
    await finder.find([text])
    expect(faults.map(({ reason }) => reason)).toEqual([
      'pattern_timeout',
      'pattern_timeout',
      'pattern_timeout',
      'pattern_off',
    ])
    expect(faults.at(-1)).toEqual({ reason: 'pattern_off', pattern: 'endless' })
    const [lists] = await finder.find([text])
    expect(lists).toHaveLength(1)
  })
})

describe('limits', () => {
  it('hold for the text of a request', async () => {
    const { finder, faults } = create([{ pattern: 'a' }], { ...patience, mostText: 4 })
    expect(await finder.find(['aaa', 'aa'])).toEqual([[], []])
    expect(faults).toEqual([{ reason: 'pattern_text_too_large', pattern: undefined }])
    expect((await finder.find(['aa', 'aa'])).flat()).toHaveLength(2)
  })

  it('hold for the requests that wait', async () => {
    const { finder, faults } = create([{ pattern: 'a' }], { ...patience, mostWaiting: 2 })
    const found = await Promise.all(['aa', 'aaa', 'aaaa'].map((text) => finder.find([text])))
    expect(found.map(([lists]) => lists!.length)).toEqual([1, 1, 0])
    expect(faults).toEqual([{ reason: 'pattern_busy', pattern: undefined }])
  })

  it('keep requests that come at once apart', async () => {
    const { finder } = create([{ pattern: 'x\\d+' }])
    const texts = Array.from({ length: 40 }, (_, i) => `${' '.repeat(i)}x${i} x${i}`)
    const found = await Promise.all(texts.map((text) => finder.find([text])))
    for (const [i, [lists]] of found.entries()) expect(lists![0]!.blocks[0]).toMatchObject({ start: i })
  })
})

describe('a finder', () => {
  it('without patterns, with an aborted signal or closed finds nothing', async () => {
    expect(await create([]).finder.find(['aa'])).toEqual([[]])
    const { finder, faults } = create([{ pattern: 'a' }])
    expect(await finder.find(['aa'], AbortSignal.abort())).toEqual([[]])
    const under = finder.find(['aa'])
    await finder.close()
    await under
    expect(await finder.find(['aa'])).toEqual([[]])
    expect(faults).toEqual([])
  })

  it('refuses an invalid pattern at once', () => {
    expect(() => new PatternFinder([{ pattern: '(' }], {}, () => {})).toThrow('block pattern "patterns[0]" is invalid')
  })
})
