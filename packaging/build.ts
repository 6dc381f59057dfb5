import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/*
 * `npm run build`: compiles everything `bin/reprise` imports to JavaScript with source maps, in dist/.
 */

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
// renamed to dist/ only when complete: the old build may be running, and must stay if this one fails
const out = `${dist}.new`
/**
 * Files that the product reads at run time in addition to its modules; a test starts the build and uses each of them.
 */
const assets = ['proxy/admin/dashboard/dashboard.html', 'proxy/admin/dashboard/page', 'docs/openapi.json']

rmSync(out, { recursive: true, force: true })
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
execFileSync(process.execPath, [tsc, '--project', join(import.meta.dirname, 'tsconfig.json'), '--outDir', out], {
  stdio: 'inherit',
})
for (const asset of assets) {
  mkdirSync(dirname(join(out, asset)), { recursive: true })
  cpSync(join(root, asset), join(out, asset), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
}
writePackage()
rmSync(dist, { recursive: true, force: true })
renameSync(out, dist)

/**
 * Makes dist/ a package, so that `#proxy/x.ts` means the compiled file. Written last: its age counts as the build's.
 */
function writePackage(): void {
  const { name, version, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    name: string
    version: string
    imports: Record<string, string>
  }
  const compiled = Object.entries(imports).map(([from, to]) => [from, to.replace(/\.ts$/, '.js')])
  const manifest = { name, version, private: true, type: 'module', imports: Object.fromEntries(compiled) }
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
