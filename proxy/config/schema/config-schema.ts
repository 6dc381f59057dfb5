import { accessSchemas } from './access-schema.ts'
import { aliasSchema, engineSchema } from './engine-schema.ts'
import { reuseSchemas } from './reuse-schema.ts'
import { clientTls, file, flag, group, matching, type SettingSchema, seconds, text, whole } from './setting-schema.ts'

const day = 86_400

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
    ttl_seconds: whole('How long a turn is kept if no request repeats it.', 60, day),
    share_tokens: flag(
      'Whether tokens of prompts, which amount to their text, are kept in Redis, so that predictions stay exact across restarts.',
      false,
    ),
    tls: clientTls('For a Redis behind rediss. Files are PEM.', 'Redis'),
  },
)

const limits = group('Which requests are refused, and which must wait.', {
  body_bytes: whole('Largest request body.', 1, 64 * 1024 * 1024),
  body_memory_bytes: whole(
    'Memory for all request bodies in flight; one tenant gets at most half. Requests beyond it get 429 with retry-after. A body larger than all of it is refused (413).',
    1,
    512 * 1024 * 1024,
  ),
  body_stall_seconds: seconds(
    'A body of which less than 16 KiB arrives in this time is given up (408); 0: never.',
    0,
    30,
  ),
  rewrite_bytes: whole(
    'Largest body that is read and rewritten; a larger one is forwarded as received.',
    1,
    8 * 1024 * 1024,
  ),
  in_flight_per_replica: whole(
    'Requests that an engine is given at a time; others wait, with fair turns for tenants. Fairness works best near what the engine runs at once.',
    1,
    4096,
  ),
  waiting_requests: whole(
    'Requests that may wait at each engine, at most half of them from one tenant; others get 429 with retry-after.',
    0,
    10_000,
  ),
  max_wait_seconds: seconds('How long a request may wait before it is given up (504).', 1, 300),
})

const health = group('Health checks of engines if there are several; a single engine is not checked.', {
  readyz: {
    description:
      'When /readyz reports ready. `proxy`: while the proxy accepts requests, even if every engine is down, so that its errors reach the client. `engine`: only while an engine accepts requests, too.',
    enum: ['proxy', 'engine'],
    default: 'proxy',
  },
  path: matching('The path to request.', '^/', 'has to begin with /', '/health'),
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
    engines: {
      type: 'array',
      description: 'The engines: at least one, unless `--emulate` is given.',
      items: engineSchema,
      default: [],
    },
    engine_api_key: text('The bearer token for engines without an `api_key` of their own.'),
    aliases: {
      type: 'array',
      description: 'Names of models that stand for others: aliases, and fall-backs.',
      items: aliasSchema,
      default: [],
    },
    ...reuseSchemas,
    ...accessSchemas,
    limits,
    warm_up_seconds: seconds(
      'How long an engine that comes beside others is warmed before it counts as equal; 0: it counts at once.',
      0,
      10,
    ),
    warm_up_prompts: whole(
      'How many prompts of the last hour that began as others did are kept in memory, to warm engines that come; 0: none.',
      0,
      32,
    ),
    pins: group('Prompts with `cache_control` marks that engines are to keep.', {
      tokens: whole('How many tokens may be pinned, of all tenants together; 0: marks pin nothing.', 0, 0),
      tenant_tokens: whole('How many of these one tenant may have.', 1, 65_536),
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
      max_bytes: whole('Total size of all parts at which the oldest are deleted.', 1_024, 1024 * 1024 * 1024),
    }),
    logs: group('JSON lines on stderr.', {
      level: {
        description: 'What is logged.',
        enum: ['debug', 'info', 'warn', 'error', 'silent'],
        default: 'info',
      },
      prompts: flag('Whether logs may contain text of prompts, and the dashboard the first words of blocks.', false),
      requests: flag('Whether each request is logged.', true),
    }),
    health,
    redis: redisSchema,
  },
}
