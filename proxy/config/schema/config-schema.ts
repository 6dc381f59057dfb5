import { accessSchemas } from './access-schema.ts'
import { engineSchema } from './engine-schema.ts'
import { redisSchema } from './redis-schema.ts'
import { reuseSchemas } from './reuse-schema.ts'
import {
  file,
  flag,
  group,
  matching,
  milliseconds,
  type SettingSchema,
  seconds,
  text,
  whole,
} from './setting-schema.ts'

const limits = group('What is refused, and what has to wait.', {
  body_bytes: whole('Largest request body.', 1, 64 * 1024 * 1024),
  body_memory_bytes: whole(
    'Request bodies in flight together, half of it for one tenant; what is beyond is told to come back (429). A larger body is refused (413).',
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
  rewrite_texts: whole(
    'Most messages, texts in them, or blocks beside them, of a request that is rewritten.',
    1,
    2_048,
  ),
  rewrite_milliseconds: milliseconds(
    'How long ordering the blocks of one large request may take, at a stretch, before it is forwarded as received.',
    1,
    30,
  ),
  in_flight_per_replica: whole(
    'Requests that an engine is given at a time; others wait their turn, shared fairly between tenants. Near what the engine runs at once, fairness bites.',
    1,
    4096,
  ),
  waiting_requests: whole(
    'Requests that may wait at each engine, of one tenant alone half of them at most; others are told to come back (429).',
    0,
    10_000,
  ),
  max_wait_seconds: seconds('How long a request may wait before it is given up (504).', 1, 300),
  group_window_milliseconds: milliseconds(
    'Longest wait for requests that share blocks, while the engine is busy.',
    0,
    20,
  ),
})

const health = group('How engines are looked after where there are several; a single one is not asked.', {
  readyz: {
    description:
      'When the control plane says that it is ready. `proxy`: while the proxy takes requests, even if every engine is down, so that its errors reach the client. `engine`: while an engine takes requests as well.',
    enum: ['proxy', 'engine'],
    default: 'proxy',
  },
  interval_seconds: seconds('Time between two checks; 0: no checks.', 0, 5),
  path: matching('The path that is asked.', '^/', 'has to begin with /', '/health'),
  timeout_seconds: seconds('How long an engine may take to answer.', 1, 2),
})

const breaker = group('When an engine that fails is left alone.', {
  failures: whole('Failures in a row after which it gets no requests.', 1, 5),
  open_seconds: seconds('For how long, before one request tries it again.', 1, 10),
})

/** Describes the configuration of `reprise serve`; published as docs/config.schema.json. */
export const configSchema: SettingSchema & { $schema: string; title: string } = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Configuration of reprise serve',
  description:
    'A flag goes before an environment variable, that before the file, and the file before the default. The variable of ' +
    'a setting is REPRISE_ and its path in capitals, as in REPRISE_LIMITS_BODY_BYTES; lists and objects are written as ' +
    "JSON or YAML. Relative paths in the file start at the file's folder.",
  type: 'object',
  additionalProperties: false,
  properties: {
    listen: text('Where applications connect: HOST:PORT.', '127.0.0.1:8080'),
    engines: {
      type: 'array',
      description: 'The engines: one at least, unless `--emulate` is given.',
      items: engineSchema,
      default: [],
    },
    engine_api_key: text('The bearer token for engines without an `api_key` of their own.'),
    ...reuseSchemas,
    ...accessSchemas,
    limits,
    keep_alive_seconds: seconds('Silence after which a stream gets a comment line; 0: never.', 0, 10),
    drain_delay_seconds: seconds(
      'How long requests are still taken after SIGTERM, while balancers learn that /readyz answers 503; each answer ends its connection.',
      0,
      0,
    ),
    drain_seconds: seconds('How long requests in flight may go on after that.', 0, 30),
    record: group('A trace of the requests, for `reprise replay`. Without `folder`: none.', {
      folder: file('The folder that parts are written to, each a trace of its own; it is made where it is missing.'),
      text: flag(
        'Whether it holds texts of prompts, and requests as received; otherwise digests, with a key that is kept nowhere. With it the dashboard shows first words of blocks.',
        false,
      ),
      part_bytes: whole('Size of a part, packed, at which the next begins.', 1_024, 64 * 1024 * 1024),
      max_bytes: whole('Size of all parts at which the oldest are deleted.', 1_024, 1024 * 1024 * 1024),
    }),
    logs: group('JSON lines on stderr.', {
      level: {
        description: 'What is logged.',
        enum: ['debug', 'info', 'warn', 'error', 'silent'],
        default: 'info',
      },
      prompts: flag('Whether logs may hold text of prompts, and the dashboard first words of blocks.', false),
      requests: flag('Whether each request has a line.', true),
    }),
    health,
    breaker,
    redis: redisSchema,
  },
}
