import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { keysIn } from './keys-file.ts'
import { type CertificateFiles, hasOpenssl, issue, makeAuthority } from './make-certificates.ts'
import { Reprises, type RunningReprise, writeSettings } from './run-reprise.ts'

const reprises = new Reprises()
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-reload-'))
})
afterEach(() => {
  reprises.stopAll()
  rmSync(folder, { recursive: true })
})

/** Log lines that say how a reload ended. */
function outcomesOf({ stderr }: RunningReprise): { settings?: string[]; faults?: string[]; msg: string }[] {
  const lines = stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => /reloaded|next start/.test(msg))
}

async function hangUp(running: RunningReprise, outcomes: number): Promise<ReturnType<typeof outcomesOf>> {
  running.child.kill('SIGHUP')
  await vi.waitFor(() => expect(outcomesOf(running).length).toBeGreaterThanOrEqual(outcomes), 20_000)
  return outcomesOf(running)
}

describe.skipIf(!hasOpenssl)('with certificates (needs openssl)', () => {
  let server: CertificateFiles
  let used: CertificateFiles

  beforeEach(() => {
    server = issue(folder, 'server', makeAuthority(folder, 'authority'), 'IP:127.0.0.1')
    used = { cert: server.cert, key: join(folder, 'used.key') }
    copyFileSync(server.key, used.key)
  })

  test('a broken file beside changed settings changes nothing, and the log says that alone; the repaired one applies them', async () => {
    const keys = join(folder, 'keys.yaml')
    writeFileSync(keys, `keys: [{ tenant: a, sha256: ${'a'.repeat(64)} }]`)
    const tls = { cert: used.cert, key: used.key }
    const running = await reprises.start([
      'serve',
      '--emulate',
      '--config',
      writeSettings(folder, { tls, keys: { file: keys } }),
    ])
    writeSettings(folder, { tls, keys: { file: keys }, drain_seconds: 7, logs: { prompts: true } })
    copyFileSync(server.cert, used.key)
    writeFileSync(keys, 'keys: []')
    const [failed, ...none] = (await hangUp(running, 1)).filter(({ msg }) => !msg.startsWith('API keys'))
    expect(none).toEqual([])
    expect(failed).toMatchObject({
      msg: 'configuration not reloaded: the one before stays',
      faults: expect.arrayContaining([
        expect.stringMatching(/^tls \(.*used\.key\): not a certificate/),
        expect.stringMatching(/keys\.yaml/),
      ]),
    })
    copyFileSync(server.key, used.key)
    writeFileSync(keys, `keys: [{ tenant: b, sha256: ${'b'.repeat(64)} }]`)
    await hangUp(running, 2)
    const applied = { msg: 'configuration reloaded', settings: ['drain_seconds', 'logs.prompts'] }
    await vi.waitFor(() => expect(outcomesOf(running)).toContainEqual(expect.objectContaining(applied)), 20_000)
  })
})

test('keys that a configuration asks for no more are said to stay until the next start, not to be gone', async () => {
  const keys = keysIn({ tenant: 'a', sha256: 'a'.repeat(64) })
  const running = await reprises.start(['serve', '--emulate', '--config', writeSettings(folder, { keys })])
  writeSettings(folder, { drain_seconds: 7 })
  await hangUp(running, 2)
  const outcomes = outcomesOf(running).filter(({ settings }) => settings)
  expect(outcomes.map(({ msg, settings }) => [msg, settings])).toEqual([
    ['these settings take effect at the next start', ['keys.file']],
    ['configuration reloaded', ['drain_seconds']],
  ])
})

test.skipIf(process.platform === 'win32')(
  'a SIGHUP while the configuration is being read waits until there is something to reload',
  async () => {
    const pipe = join(folder, 'pipe.json')
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
    const starting = reprises.start(['serve', '--emulate', '--config', pipe])
    // opens as soon as reprise reads
    const writer = await open(pipe, 'w')
    reprises.signalAll('SIGHUP')
    const before = readFileSync(writeSettings(folder, {}))
    renameSync(writeSettings(folder, { drain_seconds: 7 }), pipe)
    await writer.writeFile(before)
    await writer.close()
    const running = await starting
    await vi.waitFor(() => expect(outcomesOf(running)).toHaveLength(1), 20_000)
    expect(outcomesOf(running)).toMatchObject([{ msg: 'configuration reloaded', settings: ['drain_seconds'] }])
  },
)
