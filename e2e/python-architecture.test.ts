import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/** Where Python lives; a package is a subfolder of one of the projects. */
const places = ['engine-adapters', 'kernels', 'e2e', 'lab'] as const
const projects = ['engine-adapters/python', 'engine-adapters/sglang/plugin', 'engine-adapters/vllm/plugin', 'kernels']

const largestRoom = 15
const longestSource = 300

interface Source {
  path: string
  text: string
}

function sourcesOf(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => path.endsWith('.py') && !/\/(node_modules|build|tests|\.[^/]+)\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** The modules of all packages, by the names under which they are imported. */
function findModules(): Map<string, Source> {
  const modules = new Map<string, Source>()
  for (const project of projects) {
    const packages = readdirSync(join(root, project)).filter((name) =>
      existsSync(join(root, project, name, '__init__.py')),
    )
    for (const source of packages.flatMap((name) => sourcesOf(`${project}/${name}`))) {
      const path = relative(project, source.path).replace(/(\/__init__)?\.py$/, '')
      modules.set(path.replaceAll('/', '.'), source)
    }
  }
  return modules
}

/** The names that a source imports, inside functions and for types too. */
function importsOf(text: string): string[] {
  const imports = /^ *(?:from ([\w.]+) import (?:\(([^)]*)\)|(.*))|import ([\w.]+))/gm
  return [...text.matchAll(imports)].flatMap(([, from, many, few, whole]) =>
    from === undefined
      ? [whole!]
      : (many ?? few!).split(',').map((name) => `${from}.${name.replace(/ as .*|#.*/, '').trim()}`),
  )
}

/** The other rooms (folders) that each room imports. */
function roomsImportedBy(modules: ReadonlyMap<string, Source>): Map<string, Set<string>> {
  const rooms = new Map<string, Set<string>>()
  for (const { path, text } of modules.values()) {
    const room = dirname(path)
    const others = rooms.get(room) ?? new Set()
    rooms.set(room, others)
    for (const name of importsOf(text)) {
      const imported = modules.get(name) ?? modules.get(name.slice(0, name.lastIndexOf('.')))
      if (imported && dirname(imported.path) !== room) others.add(dirname(imported.path))
    }
  }
  return rooms
}

/** A way through the rooms that leads back to where it began, if there is one. */
function findCycle(rooms: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>()
  const follow = (way: string[]): string[] | undefined => {
    const room = way.at(-1)!
    if (way.indexOf(room) < way.length - 1) return way.slice(way.indexOf(room))
    if (done.has(room)) return undefined
    for (const other of rooms.get(room) ?? []) {
      const cycle = follow([...way, other])
      if (cycle) return cycle
    }
    done.add(room)
    return undefined
  }
  for (const room of rooms.keys()) {
    const cycle = follow([room])
    if (cycle) return cycle
  }
  return undefined
}

describe.each(places)('the Python of %s', (place) => {
  const sources = sourcesOf(place)

  test('has no room larger than one can look over', () => {
    expect(sources.length).toBeGreaterThan(0)
    const sizes = new Map<string, number>()
    for (const { path } of sources) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1)
    expect([...sizes].filter(([, size]) => size > largestRoom)).toEqual([])
  })

  test(`has no source of more than ${longestSource} lines`, () => {
    const long = sources.filter(({ text }) => text.split('\n').length - 1 > longestSource).map(({ path }) => path)
    expect(long).toEqual([])
  })
})

describe('the rooms of the Python packages', () => {
  const rooms = roomsImportedBy(findModules())

  test('are found, and what they import', () => {
    const plugin = 'engine-adapters/vllm/plugin/reprise_vllm'
    expect(rooms.get(`${plugin}/reuse/worker`)).toContain(`${plugin}/reuse`)
    expect(rooms.get(`${plugin}/reuse/worker`)).toContain('kernels/reprise_reuse')
  })

  test('import each other in one direction only', () => {
    expect(findCycle(rooms)).toBeUndefined()
  })

  test('import nothing of lab/', () => {
    const lab = readdirSync(join(root, 'lab/kernels')).filter((name) =>
      existsSync(join(root, 'lab/kernels', name, '__init__.py')),
    )
    expect(lab).toContain('lab_kernels')
    const importsLab = [...findModules().values()].filter(({ text }) =>
      importsOf(text).some((name) => lab.includes(name.split('.')[0]!)),
    )
    expect(importsLab.map(({ path }) => path)).toEqual([])
  })

  test('a cycle would be found', () => {
    const circular = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['c', 'd'])],
      ['d', new Set(['b'])],
    ])
    expect(findCycle(circular)).toEqual(['b', 'd', 'b'])
  })
})

test.each(['sglang', 'vllm'])('the wheel of the %s plugin takes every folder of its package', (engine) => {
  const project = `engine-adapters/${engine}/plugin`
  const [, listed] = /^packages = \[([^\]]*)\]/m.exec(readFileSync(join(root, project, 'pyproject.toml'), 'utf8'))!
  const folders = sourcesOf(`${project}/reprise_${engine}`).map(({ path }) => relative(project, dirname(path)))
  const named = [...listed!.matchAll(new RegExp(`"(reprise_${engine}[^"]*)"`, 'g'))].map(([, name]) => name!)
  expect(named.toSorted()).toEqual([...new Set(folders)].map((path) => path.replaceAll('/', '.')).toSorted())
})
