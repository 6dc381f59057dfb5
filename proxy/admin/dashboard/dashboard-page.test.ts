import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { readDashboardPage } from './dashboard-page.ts'

const { html, headers } = readDashboardPage()

test('the page is whole: it loads nothing, and its modules are joined into one script', () => {
  expect(html).not.toMatch(/<link rel="stylesheet"|\ssrc=|url\(|https?:\/\/(?!www\.w3\.org)/)
  const [, script = ''] = /<script type="module">(.*)<\/script>/s.exec(html) ?? []
  expect(script).not.toMatch(/^(import|export) /m)
  // parses, so no name is declared twice
  expect(() => new Script(`'use strict'; { ${script} }`)).not.toThrow()
})

test('its policy allows its own script and style and nothing else', () => {
  const policy = headers['content-security-policy']!
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(policy.match(/sha256-/g)).toHaveLength(2)
  expect(html).not.toMatch(/\sstyle="|\son\w+="/)
})
