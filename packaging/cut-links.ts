import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/*
 * `npm pack` runs this at its end: in the pages of the package, links to files that are not in it become the names of
 * these files in the sources.
 */

const {
  npm_config_pack_destination: destination = '.',
  npm_package_name: name,
  npm_package_version: version,
} = process.env
const packed = join(destination, `${name}-${version}.tgz`)
const unpacked = mkdtempSync(join(tmpdir(), 'reprise-pack-'))
execFileSync('tar', ['-xzf', packed, '-C', unpacked])
const folder = join(unpacked, 'package')
for (const page of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))) {
  const text = readFileSync(join(folder, page), 'utf8')
  const cut = text.replaceAll(/\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)[^)]*\)/g, (link, words: string, path: string) => {
    const target = join(dirname(page), path)
    return existsSync(join(folder, target)) ? link : `${words} (\`${target}\`)`
  })
  if (cut !== text) writeFileSync(join(folder, page), cut)
}
execFileSync('tar', ['-czf', packed, '-C', unpacked, 'package'])
rmSync(unpacked, { recursive: true })
