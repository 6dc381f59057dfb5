import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { get_encoding } from 'tiktoken'
import { DemoError } from './demo-error.ts'
import { type CountTokens, type DraftSection, packSections } from './pack-sections.ts'
import { splitMarkdown } from './split-markdown.ts'

/** One section of an installed package's documentation. */
export interface Section {
  /** `package/path#heading-n`; n counts the file's sections. */
  readonly id: string
  readonly title: string
  /** The title line and the section's Markdown. */
  readonly text: string
}

/** Packages with substantial documentation; package.json pins each to one version, so the corpus is stable. */
const PACKAGES = [
  '@hono/node-server',
  'ajv',
  'cli-progress',
  'cli-table3',
  'commander',
  'eventsource-parser',
  'fast-check',
  'hono',
  'jsonc-parser',
  'lru-cache',
  'minisearch',
  'pino',
  'prom-client',
  'undici',
]

const NO_DOCUMENTATION = /^(licen[cs]e|changelog|changes|security|contributing)\.md$/i
const NO_CONTENT =
  /\b(acknowledge?ments|authors?|badges|code of conduct|contributing|contributors?|credits|licen[cs]e|sponsors?|table of contents)\b/i

/** Reads the sections of all packages, always in the same order. */
export async function readCorpus(): Promise<Section[]> {
  const encoding = get_encoding('o200k_base')
  const countTokens: CountTokens = (text) => encoding.encode_ordinary(text).length
  const sections: Section[] = []
  for (const name of PACKAGES) {
    for (const path of await listDocuments(name)) {
      const markdown = await readFile(join(packageFolder(name), path), 'utf8')
      sections.push(...toSections(name, path, markdown, countTokens))
    }
  }
  encoding.free()
  return sections
}

function toSections(name: string, path: string, markdown: string, countTokens: CountTokens): Section[] {
  const told = splitMarkdown(markdown).filter((part) => !part.headings.some((heading) => NO_CONTENT.test(heading)))
  return packSections(told, countTokens).map((draft, at) => {
    const title = toTitle(name, path, draft)
    const slug = toSlug(draft.headings.at(-1) ?? name)
    return { id: `${name}/${path}#${slug}-${at + 1}`, title, text: `${title}\n\n${draft.paragraphs.join('\n\n')}` }
  })
}

function toTitle(name: string, path: string, draft: DraftSection): string {
  const file = path.replace(/^.*\//, '').replace(/\.md$/i, '')
  const trail = draft.headings.filter((heading) => heading !== name)
  return `${name}: ${(trail.length > 0 ? trail : [file]).join(' › ')}`
}

function toSlug(heading: string): string {
  const slug = heading.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')
  return slug.replace(/^-|-$/g, '')
}

async function listDocuments(name: string): Promise<string[]> {
  const folder = packageFolder(name)
  const found = await readdir(folder, { recursive: true }).catch(() => {
    throw new DemoError(`the package ${name}, part of the demo's corpus, is not installed: run npm ci`)
  })
  return found
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^(docs\/.*|[^/]*)\.md$/i.test(path))
    .filter((path) => !NO_DOCUMENTATION.test(path.replace(/^.*\//, '')))
    .sort()
}

function packageFolder(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url))
}
