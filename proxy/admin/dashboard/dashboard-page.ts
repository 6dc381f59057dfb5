import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * Reads the dashboard, with its style and modules inlined into one page. The headers allow no other code to run, and
 * requests only to this server.
 */
export function readDashboardPage(): { html: string; headers: Record<string, string> } {
  const style = readPart('page/dashboard.css')
  const script = joinModules('refresh-page.js', new Set())
  const html = readPart('dashboard.html')
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
    .replace(/<script type="module"[^>]*>/, () => `<script type="module">${script}`)
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  }
}

/** Joins a module and its imports into one text, imports first. Top-level names are unique across these modules. */
function joinModules(name: string, joined: Set<string>): string {
  if (joined.has(name)) return ''
  joined.add(name)
  const source = readPart(`page/${name}`)
  const imported = [...source.matchAll(/^import [^']* from '\.\/(.+)'$/gm)].map(([, module]) => module!)
  const own = source.replace(/^import [^']* from '.+'$/gm, '').replace(/^export /gm, '')
  return imported.map((module) => joinModules(module, joined)).join('') + own
}

function readPart(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

function hashOf(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
}
