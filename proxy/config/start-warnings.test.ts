import { expect, test } from 'vitest'
import { defaultConfig } from './sources/config-source.ts'
import { findWarnings } from './start-warnings.ts'

const standard = { ...defaultConfig(), engines: [{ url: 'http://engine', kind: 'vllm' as const, id: 'gpu-0' }] }
const none = { ...standard.tenants, from: 'none' as const }
const keys = { ...standard.keys, file: 'keys.yaml' }

test.each([
  ['that answers are canned', { tenants: none, engines: [] }, [/no engine, but the embedded engine emulator/]],
  ['that every bearer is a tenant', {}, [/whatever bearer a client shows is a tenant of its own/]],
  ['nothing, where all are one tenant', { tenants: none }, []],
  ['nothing, where a gateway names them', { tenants: { ...none, from: 'header' as const } }, []],
  ['that salts can be computed', { keys }, [/without tenants\.salt_secret/]],
  ['nothing, where they cannot', { keys, tenants: { ...standard.tenants, salt_secret: 's' } }, []],
  [
    'that callers from elsewhere need a token',
    { tenants: none, admin: { listen: '0.0.0.0:9090' } },
    [/admin\.listen is 0\.0\.0\.0, and there is no admin\.token/],
  ],
  ['nothing, where they have one', { tenants: none, admin: { listen: '0.0.0.0:9090', token: 't' } }, []],
])('says %s', (_title, config, warnings) => {
  expect(findWarnings({ ...standard, ...config })).toEqual(warnings.map((warning) => expect.stringMatching(warning)))
})
