import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cutLinks } from './cut-links.ts'

// `npm pack` runs this at its end, once its file is there

const {
  npm_config_pack_destination: destination = '.',
  npm_package_name: name,
  npm_package_version: version,
} = process.env
const packed = join(destination, `${name}-${version}.tgz`)
// neither a dry run nor `npm publish` writes one
if (!existsSync(packed)) process.exit()
const unpacked = mkdtempSync(join(tmpdir(), 'reprise-pack-'))
execFileSync('tar', ['-xzf', packed, '-C', unpacked])
const folder = join(unpacked, 'package')
for (const page of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))) {
  const text = readFileSync(join(folder, page), 'utf8')
  const cut = cutLinks(text, page, (path) => existsSync(join(folder, path)))
  if (cut !== text) writeFileSync(join(folder, page), cut)
}
execFileSync('tar', ['-czf', packed, '-C', unpacked, 'package'])
rmSync(unpacked, { recursive: true })
