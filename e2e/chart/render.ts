import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { chart, toolPath } from './tools/tool-path.ts'

/** A rendered Kubernetes manifest. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: unknown
  readonly data?: Readonly<Record<string, string>>
}

export type Values = Readonly<Record<string, unknown>>

export interface RenderOptions {
  readonly chart?: string
  readonly release?: string
  readonly kubernetes?: string
}

/** Renders the chart with Helm. Throws Helm's message if it refuses the values. */
export function render(values: Values, options: RenderOptions = {}): Manifest[] {
  const { chart: folder = chart, release = 'r', kubernetes = '1.33.0' } = options
  const args = ['template', release, folder, '--namespace', 'ai', '--kube-version', kubernetes, '-f', '-']
  const { status, stdout, stderr } = spawnSync(toolPath('bin', 'helm'), args, {
    input: JSON.stringify(values),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
}

/** Returns the values of the named example in ci/. */
export function exampleValues(name: string): Values {
  return parse(readFileSync(join(chart, 'ci', `${name}-values.yaml`), 'utf8')) as Values
}

/** Merges `over` into `under`, as Helm does. */
export function mergeValues(under: Values, over: Values): Values {
  const merged: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isMap(below) && isMap(value) ? mergeValues(below, value) : value
  }
  return merged
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds the only manifest of a kind; if there are several, the one with the given name. */
export function find(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter(
    (manifest) => manifest.kind === kind && (name ?? manifest.metadata.name) === manifest.metadata.name,
  )
  if (found.length !== 1) throw new Error(`there are ${found.length} of ${kind} ${name ?? ''}`)
  return found[0]!
}

/** Returns the value at a path: keys between dots, `[0]` for a list index, `[name=x]` for the element named x. */
export function at(value: unknown, path: string): unknown {
  const steps = path.match(/\[[^\]]+\]|[^.[\]]+/g) ?? []
  return steps.reduce<unknown>((current, step) => {
    if (current === undefined || current === null) return undefined
    if (!step.startsWith('[')) return (current as Values)[step.replaceAll('~', '.')]
    const [key, wanted] = step.slice(1, -1).split('=')
    const list = current as Values[]
    return wanted === undefined ? list[Number(key)] : list.find((element) => element[key!] === wanted)
  }, value)
}
