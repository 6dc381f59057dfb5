import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { defaultWording } from '../../prompt/wording.ts'
import {
  clientTls,
  file,
  flag,
  group,
  list,
  matching,
  object,
  oneOf,
  type SettingSchema,
  seconds,
  text,
  whole,
} from './setting-schema.ts'

const events = (description: string): SettingSchema =>
  matching(description, '^tcp://(\\[[0-9a-fA-F:.]+\\]|[^\\s/:?#@]+):\\d{1,5}$', 'write tcp://HOST:PORT')

export const engineSchema: SettingSchema = object(['url'], {
  url: matching('The URL of the engine.', '^https?://', 'write http://HOST:PORT'),
  kind: oneOf('The kind of engine. With `openai` nothing is ever added to a request.', engineKinds, 'openai'),
  id: matching(
    'Its unique name in headers, metrics and callbacks. Without one: engine, engine-2, …',
    '^[\\w.-]{1,128}$',
    'use letters, digits, dots, hyphens and underscores',
  ),
  api_key: text("Sent to the engine as bearer token instead of the client's."),
  events: events('Where the engine publishes its cache events.'),
  replay: events('Where the engine replays missed cache events.'),
  models: list(
    'The models that it serves, for one that does not list them at `/v1/models`. Without it: it is asked.',
    text('A name, as requests have it.'),
    true,
  ),
  discover: oneOf(
    'The host of `url` stands for several engines: one at each of its `addresses` (A, AAAA), at each target of its `srv` records, which name the ports, or at each ready pod in the `endpoints` of the Kubernetes Service of that name. Each is called ID-ADDRESS, ID and the first label of its name, or more where another has it too, or ID and its pod.',
    ['addresses', 'srv', 'endpoints'],
  ),
  tls: clientTls('For an engine behind https. Files are PEM.', 'the engine'),
})

const aliasSchema: SettingSchema = object(['name', 'models'], {
  name: text('The name that clients send.'),
  models: list(
    'What it stands for: the first of these of which an engine is ready.',
    text('A model that an engine serves.'),
    true,
  ),
})

const redisSchema: SettingSchema = group(
  'Keeps state across restarts, and shares it between proxies. Without `url`, state is only in memory.',
  {
    url: text(
      'redis://[USER:PASSWORD@]HOST:PORT[/DATABASE], redis+sentinel://HOST:PORT,…/MASTER[/DATABASE] or ' +
        'redis+cluster://HOST:PORT,…; with rediss instead of redis for TLS.',
    ),
    namespace: matching(
      'Proxies with the same namespace share state, in keys that begin with reprise:NAMESPACE:.',
      '^[\\w.-]{1,64}$',
      'use letters, digits, dots, hyphens and underscores',
      'default',
    ),
    share_tokens: flag(
      'Whether tokens of prompts, which amount to their text, are kept in Redis, so that predictions stay exact across restarts.',
      false,
    ),
    tls: clientTls('For a Redis behind rediss. Files are PEM.', 'Redis'),
  },
)

const literal = (description: string): SettingSchema => ({ ...text(description), maxLength: 2_000 })

const template: SettingSchema = object(['block'], {
  name: text('Its name in reports.'),
  block: literal(
    'One block as the application writes it: `{block}` stands for its text, `{n}` for the number of its place, ' +
      '`{any}` for anything within one line. Everything else is meant as it is.',
  ),
  join: literal('What is between two blocks, and not behind the last.'),
  before: literal(
    'What is directly in front of the first block; `{start}`: the text begins with it. Needed if nothing begins a ' +
      'block. May contain `{any}`.',
  ),
  after: literal(
    'What is directly behind the last block; `{end}`: the text ends with it. Needed if nothing ends a block. May ' +
      'contain `{any}`.',
  ),
})

/** What is done to prompts. */
const reuse: Record<string, SettingSchema> = {
  mode: oneOf(
    '`auto` rewrites what is stated and what words, traffic and the model permit; `ask` what is stated or confirmed; `on` what no word forbids; `shadow` only computes, `off` does neither. Without it: `auto` if an engine can score prompts, otherwise `ask`.',
    ['auto', 'ask', 'on', 'shadow', 'off', true, false],
  ),
  annotations: group('Texts that tell the model what was moved.', {
    order: matching(
      'Added after reordered blocks; `{order}` becomes their labels in rank order.',
      '\\{order\\}',
      'has to contain {order}',
      defaultWording.order,
    ),
    location: matching(
      'Replaces a block that was sent before; `{label}` becomes its label.',
      '\\{label\\}',
      'has to contain {label}',
      defaultWording.location,
    ),
  }),
  options: text(
    'What counts for requests whose `x-reprise-options` do not say otherwise, in the words of that header, as in `annotate=off,citations=keep`.',
  ),
  learn: flag(
    'Whether borders of blocks are learnt: chunks from embeddings and reranks that pass through (docs/chunks.md), and lists that no rule knows from prompts, in a thread (docs/templates.md).',
    true,
  ),
  templates: list(
    'How applications write lists of blocks (docs/blocks.md). Lists that they find are moved as if they were given ' +
      'explicitly. Tried in this order.',
    template,
  ),
  chunks: group('The chunks whose borders are known. Only their digests are kept, never a text.', {
    max_chunks: {
      ...whole('Maximum number of chunks, of 97 bytes each; the least recently used go first. 0: none.', 0, 1_000_000),
      maximum: 16_000_000,
    },
  }),
  hygiene: group('Changes to requests beyond their blocks.', {
    sort_tools: flag('Whether `tools` are sent in a stable order.', false),
    behind_history: list(
      'What applications retrieve for each question and write into the system message, in front of a history that grows: it is sent in front of the newest question instead.',
      text(
        'The words with which it begins and, behind `{any}`, those with which it ends, at their last occurrence; without them: with the message. These words are moved, too.',
      ),
    ),
  }),
}

/** Who may send requests, and as which tenant. */
const access: Record<string, SettingSchema> = {
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

const limits = group('Which requests are refused, and which must wait.', {
  body_bytes: whole('Largest request body.', 1, 64 * 1024 * 1024),
  in_flight_per_replica: whole(
    'Requests that an engine is given at a time; others wait, with fair turns for tenants. Fairness works best near what the engine runs at once.',
    1,
    4096,
  ),
  max_wait_seconds: seconds('How long a request may wait before it is given up (504).', 1, 300),
})

const health = group('What /readyz says.', {
  readyz: oneOf(
    'When /readyz reports ready. `proxy`: while the proxy accepts requests, even if every engine is down, so that its errors reach the client. `engine`: only while an engine accepts requests, too.',
    ['proxy', 'engine'],
    'proxy',
  ),
})

/** Describes the configuration of `reprise serve`; published as docs/config.schema.json. */
export const configSchema: SettingSchema & { $schema: string; title: string } = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Configuration of reprise serve',
  description:
    'A flag overrides an environment variable, a variable overrides the file, and the file overrides the default. The ' +
    'variable of a setting is REPRISE_ and its path in capitals: REPRISE_LIMITS_BODY_BYTES. Lists and objects are written as ' +
    "JSON or YAML. Relative paths in the file start at the file's folder.",
  type: 'object',
  additionalProperties: false,
  properties: {
    listen: text('Where applications connect: HOST:PORT.', '127.0.0.1:8080'),
    engines: list('The engines: at least one, unless `--emulate` is given.', engineSchema),
    engine_api_key: text('The bearer token for engines without an `api_key` of their own.'),
    aliases: list('Names of models that stand for others: aliases, and fall-backs.', aliasSchema),
    ...reuse,
    ...access,
    limits,
    warm_up: flag(
      'Whether an engine that comes beside others is warmed before it counts as equal, for which hot prompts are kept in memory.',
      true,
    ),
    pins: group('Prompts with `cache_control` marks that engines are to keep.', {
      tokens: whole(
        'How many tokens may be pinned, of all tenants together, at most half of them of one tenant; 0: marks pin nothing.',
        0,
        0,
      ),
    }),
    headers: flag(
      'Whether answers have `x-reprise-` headers; switch them off where clients may not know of engines.',
      true,
    ),
    drain_delay_seconds: seconds(
      'How long requests are still accepted after SIGTERM, while balancers notice that /readyz answers 503; each answer closes its connection.',
      0,
      0,
    ),
    drain_seconds: seconds('How long requests in flight may take to finish after that.', 0, 30),
    record: group('A trace of the requests, for `reprise replay`. Without `folder`: none.', {
      folder: file('The folder for the parts, each of which is a complete trace; created if missing.'),
      text: flag(
        'Whether texts of prompts, and requests as received, are recorded; otherwise digests, under a key that is stored nowhere. If they are, the dashboard shows the first words of blocks.',
        false,
      ),
    }),
    logs: group('JSON lines on stderr.', {
      level: oneOf('What is logged: each request at `info`.', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
      prompts: flag('Whether logs may contain text of prompts, and the dashboard the first words of blocks.', false),
    }),
    health,
    redis: redisSchema,
  },
}
