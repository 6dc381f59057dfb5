import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'

const root = join(import.meta.dirname, '..')

/** The folders each folder may import; every folder may import from itself, by relative paths. */
const allowed = {
  index: [],
  scheduler: ['index'],
  'engine-adapters': ['index'],
  emulator: ['index', 'engine-adapters'],
  proxy: ['index', 'scheduler', 'engine-adapters', 'emulator'],
  // the command line, and what only its commands do: it imports the proxy, never the other way
  tools: ['index', 'scheduler', 'engine-adapters', 'emulator', 'proxy'],
} as const
const core = ['index', 'scheduler'] as const

/** Returns floors for rooms of which each may import those before it. */
function inOrder(...rooms: string[]): Record<string, string[]> {
  return Object.fromEntries(rooms.map((room, i) => [room, rooms.slice(0, i)]))
}

/** The rooms (subfolders) of its folder that each room may import, besides itself and the folder's root. */
const floors = {
  index: {
    columns: [],
    dedup: [],
    plan: [],
    ordering: ['columns'],
    mirror: ['columns', 'ordering', 'tree-cache'],
    'tree-cache': [],
  },
  proxy: inOrder(
    ...['common', 'access', 'answer', 'prompt', 'http', 'templates', 'config', 'chunks', 'reuse', 'replicas'],
    ...['telemetry', 'call', 'redis', 'gain', 'record', 'idle', 'request', 'admin', 'start'],
  ),
  'proxy/answer': {
    citations: [],
    events: [],
  },
  'proxy/admin': { chunks: [], dashboard: [] },
  'proxy/chunks': { table: [] },
  'proxy/http': { bounds: [], receive: ['bounds'] },
  'proxy/idle': inOrder('warming', 'pins', 'prove'),
  'proxy/replicas': inOrder('reports', 'mirror', 'events', 'discovery'),
  'proxy/request': { borders: [] },
  'proxy/config': {
    schema: [],
    faults: ['schema'],
    sources: ['schema', 'faults'],
  },
  tools: inOrder('replay', 'batch', 'compare', 'doctor'),
  'tools/doctor': {
    engine: [],
    'prefix-cache': ['engine'],
  },
  'proxy/prompt': inOrder(
    'turns',
    'scan',
    'demands',
    'body',
    'formats',
    'borders',
    'order',
    'judge',
    'forms',
    'places',
    'history',
    'hygiene',
  ),
  'proxy/prompt/forms': {
    enclosed: [],
    headed: [],
    lines: [],
  },
  'proxy/prompt/places': {
    words: [],
  },
  'proxy/prompt/scan': {
    words: [],
    labels: ['words'],
  },
  'proxy/redis': {
    codec: [],
    connection: [],
    conversations: ['connection'],
    mirror: ['codec', 'connection'],
  },
  'proxy/templates': {
    cut: [],
    learner: ['traffic'],
    proof: [],
    traffic: [],
  },
  'proxy/telemetry': {
    tracing: [],
    'hot-blocks': [],
  },
  'tools/replay': {
    trace: [],
    paper: [],
    policies: ['paper'],
    run: ['trace', 'policies'],
    report: ['policies', 'run'],
    chart: ['policies', 'report', 'run'],
  },
} as const

/** A room with more source files than this must be divided into rooms. */
const largestRoom = 15
const isBesideSources = (path: string): boolean => /\.(test|fixture|contract)\.ts$/.test(path)

function sourcesOf(folder: string): { path: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') }))
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier!)
}

test.each(Object.entries(allowed))('%s imports only what it may', (folder, others) => {
  const files = sourcesOf(folder)
  expect(files.length).toBeGreaterThan(0)
  for (const { path, text } of files) {
    const isTest = /\.(test|contract|bench)\.ts$/.test(path)
    for (const specifier of importsOf(text)) {
      const crossing = /^#([\w-]+)\//.exec(specifier)?.[1]
      // any test may import the index, for example to show how scheduler and index work together
      const may = isTest ? [...others, 'index'] : others
      if (crossing !== undefined)
        expect({ path, specifier, ok: may.includes(crossing as never) }).toMatchObject({ ok: true })
      const climbs = specifier.startsWith('.') ? join(path, '..', specifier).split('/')[0] : folder
      expect({ path, specifier, folder: climbs }).toMatchObject({ folder })
    }
  }
})

describe.each(Object.entries(floors))('the rooms of %s', (folder, rooms) => {
  test.each(Object.entries(rooms))('%s imports only rooms below it', (room, below: readonly string[]) => {
    const files = sourcesOf(`${folder}/${room}`).filter(({ path }) => !isBesideSources(path))
    expect(files.length).toBeGreaterThan(0)
    for (const { path, text } of files) {
      for (const specifier of importsOf(text).filter((specifier) => specifier.startsWith('.'))) {
        const imported = join(path, '..', specifier)
        if (!imported.startsWith(`${folder}/`)) continue
        const [other, ...rest] = imported.slice(folder.length + 1).split('/')
        const isRoom = rest.length > 0 && other !== room
        expect({ path, specifier, ok: !isRoom || below.includes(other!) }).toMatchObject({ ok: true })
      }
    }
  })
})

test.each(Object.entries(floors))('every room of %s has its floor', (folder, rooms) => {
  const found = new Set(
    sourcesOf(folder)
      .filter(({ path }) => !isBesideSources(path))
      .map(({ path }) => path.slice(folder.length + 1).split('/'))
      .filter((names) => names.length > 1)
      .map(([room]) => room),
  )
  expect(Object.keys(rooms).toSorted()).toEqual([...found].toSorted())
})

test.each(Object.keys(allowed))('no room of %s is larger than one can look over', (folder) => {
  const sizes = new Map<string, number>()
  for (const { path } of sourcesOf(folder).filter(({ path }) => !isBesideSources(path)))
    sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1)
  expect([...sizes].filter(([, size]) => size > largestRoom)).toEqual([])
})

test.each(Object.keys(allowed))('no source of %s has more than 300 lines', (folder) => {
  const long = sourcesOf(folder)
    .filter(({ path, text }) => !isBesideSources(path) && text.split('\n').length - 1 > 300)
    .map(({ path }) => path)
  expect(long).toEqual([])
})

/** Returns `PATH NAME` for every name that a file imports from one of ours, or passes on. */
function importedNames({ path, text }: { path: string; text: string }): string[] {
  const clauses = [
    ...text.matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from '([#.][^']+)'/g),
    ...text.matchAll(/const \{([^}]*)\} = await import\('([#.][^']+)'\)/g),
  ]
  return clauses.flatMap(([, names, specifier]) => {
    const from = specifier!.startsWith('#') ? specifier!.slice(1) : join(path, '..', specifier!)
    return names!.split(',').map((name) => `${from} ${name.replace('type ', '').trim().split(' ')[0]}`)
  })
}

test('nothing is exported that no other file imports', () => {
  const sources = Object.keys(allowed).flatMap(sourcesOf)
  const imported = new Set(
    [...sources, ...sourcesOf('e2e'), ...sourcesOf('packaging'), ...sourcesOf('lab')].flatMap(importedNames),
  )
  const exported = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/gm)].map(
      ([, name]) => `${path} ${name}`,
    ),
  )
  expect(exported.length).toBeGreaterThan(1_000)
  expect(exported.filter((name) => !imported.has(name))).toEqual([])
})

test.each(core)('%s is synchronous, and has no clock, no chance and no input or output', (folder) => {
  for (const { path, text } of sourcesOf(folder).filter(({ path }) => !/\.(test|contract|bench)\.ts$/.test(path))) {
    for (const forbidden of [
      /\basync\b/,
      /\bawait\b/,
      /\bPromise\b/,
      /\bDate\b/,
      /Math\.random/,
      /\bsetTimeout\b/,
      /\bperformance\b/,
    ]) {
      expect({ path, forbidden: forbidden.source, found: forbidden.test(text) }).toMatchObject({ found: false })
    }
    const packages = importsOf(text).filter((specifier) => !/^[.#]/.test(specifier))
    // it only computes: no clock, no I/O
    const allowed = ['node:crypto']
    expect({ path, packages: packages.filter((name) => !allowed.includes(name)) }).toMatchObject({ packages: [] })
  }
})

test('only the one door to a replica’s cache and what other proxies tell change its mirror', () => {
  const writers = sourcesOf('proxy')
    .filter(({ path, text }) => !/\.(test|fixture)\.ts$/.test(path) && /\bmirror\.apply(Snapshot)?\(/.test(text))
    .map(({ path }) => path)
  expect(writers.toSorted()).toEqual([
    'proxy/redis/mirror/mirror-follower.ts',
    'proxy/replicas/mirror/replica-cache.ts',
  ])
})

test('the proxy asks an engine’s adapter, and compares no kinds of engines', () => {
  const comparesKinds = new RegExp(`[!=]== '(${engineKinds.join('|')})'`)
  const comparing = sourcesOf('proxy')
    .filter(({ path }) => !/\.(test|fixture)\.ts$/.test(path))
    .filter(({ text }) => comparesKinds.test(text))
  expect(comparing.map(({ path }) => path)).toEqual([])
})

test('only the tests of commands and the long ones start commands: `npm test` is for often', () => {
  const starting = [...Object.keys(allowed), 'e2e', 'packaging']
    .flatMap(sourcesOf)
    .filter(
      ({ path, text }) => path.endsWith('.sockets.test.ts') && /\/(run|start)-reprise|'bin', 'reprise'/.test(text),
    )
  expect(starting.map(({ path }) => path)).toEqual([])
})

test('the lockfile names the optional packages of every platform: npm ci refuses it otherwise', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>
  }
  const optional = Object.values(packages).flatMap(({ optionalDependencies }) =>
    Object.keys(optionalDependencies ?? {}),
  )
  expect(
    optional.filter((name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))),
  ).toEqual([])
})

test('no option of V8 for regular expressions changes in a process that runs: patterns interpreted before then crash it', () => {
  const changing = [...Object.keys(allowed), 'e2e', 'packaging', 'lab']
    .flatMap(sourcesOf)
    .filter(({ text }) => /setFlagsFromString\(\s*'--(?:no-?)?regexp/.test(text))
  expect(changing.map(({ path }) => path)).toEqual([])
})
