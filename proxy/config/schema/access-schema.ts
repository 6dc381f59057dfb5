import { file, flag, group, list, matching, object, oneOf, type SettingSchema, text, whole } from './setting-schema.ts'

/** Describes one API key. */
const keySchema: SettingSchema = object(['sha256'], {
  name: text('What the key is called in logs.'),
  tenant: text(
    'The tenant that the key belongs to. Keys of one tenant share cache. Without it, the name is the tenant.',
  ),
  sha256: matching(
    'SHA-256 of the key, as `reprise hash-key` prints it.',
    '^[0-9a-fA-F]{64}$',
    'has to be 64 hexadecimal digits: `reprise hash-key` prints them',
  ),
  requests_per_minute: whole('Requests a minute, all of which may come at once. Without it: no limit.', 1),
  prompt_tokens_per_minute: whole('Prompt tokens a minute, all of which may come at once. Without it: no limit.', 1),
  cold_tokens_per_minute: whole(
    'Instead of prompt_tokens_per_minute: counts what an engine computes, not what it takes from its cache.',
    1,
  ),
  priority: { type: 'integer', description: 'Priority of requests that name none; lower is sooner.' },
  expires: matching(
    'When the key expires: an ISO 8601 date, or date and time with a zone.',
    '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d))?$',
    'write a date as in 2030-01-31 or 2030-01-31T12:00:00Z',
  ),
})

export const keysFileSchema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['keys'],
  properties: { keys: { type: 'array', minItems: 1, items: keySchema } },
}

/** Describes who may send requests, and as which tenant. */
export const accessSchemas: Record<string, SettingSchema> = {
  keys: group('API keys that clients must send. Without a file, every request is accepted.', {
    file: file(
      'YAML or JSON file: `keys:` with a list of keys, as `reprise hash-key` prints them. Read again when it changes.',
    ),
    allow_engine_paths: list(
      'Paths of the engine that requests with a key may use besides inference, such as /metrics or /v1/files/*. Without keys, all are passed on.',
      matching('A path, or the beginning of one.', '^/[^*]*[*]?$', 'has to begin with /; * stands at its end alone'),
    ),
    forward_client_authorization: flag('Whether the engine gets the key that a client sent to the proxy.', false),
  }),
  tenants: group('Who shares cache with whom.', {
    from: oneOf(
      'How tenants are identified. `key`: by the API key; without configured keys, each bearer token is a separate tenant. `header`: by x-reprise-tenant from trusted peers, else by the tenant of a configured key. `none`: all share one cache.',
      ['key', 'header', 'none'],
      'key',
    ),
    trusted_peers: list('Addresses and ranges (CIDR) of gateways whose `x-reprise-tenant` counts.', { type: 'string' }),
    salt_secret: text(
      'Secret for computing the cache salts of tenants, the same for all proxies of an engine. Without it, a caller who ' +
        'knows the name of a tenant can compute its salt, and send it on routes that are passed on unchanged.',
    ),
  }),
  tls: group('TLS to clients; off without `cert` and `key`. Files are PEM and read again when they change.', {
    cert: file('File with the certificate chain.'),
    key: file('File with its private key.'),
    client_ca: file('File with the authorities for clients: every client must present a certificate from one of them.'),
  }),
  admin: group('The control plane: health, metrics, dashboard, eviction callbacks.', {
    listen: text('HOST:PORT', '127.0.0.1:9090'),
    token: text('Bearer token for callers from other machines; without it they are refused.'),
  }),
}
