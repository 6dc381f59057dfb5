import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { accessSchemas } from './access-schema.ts'
import { reuseSchemas } from './reuse-schema.ts'
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
    ...reuseSchemas,
    ...accessSchemas,
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
