import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCorpus, type Section } from './corpus.ts'

const countFences = (text: string): number => text.split('\n').filter((line) => /^\s*(`{3,}|~{3,})/.test(line)).length

describe('readCorpus', () => {
  let sections: Section[]

  beforeAll(async () => {
    sections = await readCorpus()
  })

  it('finds hundreds of sections, each with an id of its own', () => {
    expect(sections.length).toBeGreaterThanOrEqual(300)
    expect(new Set(sections.map((section) => section.id)).size).toBe(sections.length)
  })

  it('reads the same sections in the same order every time', async () => {
    expect(await readCorpus()).toEqual(sections)
  })

  it('begins every section with its title and leaves none empty', () => {
    for (const { id, title, text } of sections) {
      expect(text.startsWith(`${title}\n\n`), id).toBe(true)
      expect(text.slice(title.length).trim().length, id).toBeGreaterThan(100)
    }
  })

  it('names in each id the package and a file that exists', async () => {
    const files = new Set(sections.map((section) => section.id.replace(/#.*$/, '')))
    for (const file of files) {
      const path = new URL(`../../node_modules/${file}`, import.meta.url)
      await expect(readFile(path, 'utf8'), file).resolves.not.toBe('')
    }
    expect([...files].some((file) => file.startsWith('undici/docs/'))).toBe(true)
  })

  it('never cuts a code fence in two', async () => {
    for (const [at, { id, text }] of sections.entries()) {
      if (countFences(text) % 2 === 0) continue
      // a source may lack its last closing fence; then only its last section may have an open fence
      const [file] = id.split('#')
      const source = await readFile(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8')
      expect(countFences(source) % 2, id).toBe(1)
      expect(sections[at + 1]?.id.startsWith(`${file}#`), id).toBe(false)
    }
  })

  it('holds no text that would end the document tag around it', () => {
    expect(sections.filter(({ text }) => /<\/documents?>/.test(text))).toEqual([])
  })
})
