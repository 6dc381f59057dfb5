import { file, flag, group, matching, type SettingSchema, text, whole } from './setting-schema.ts'

const day = 86_400

/** Describes `redis`. */
export const redisSchema: SettingSchema = group(
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
    tls: {
      type: 'object',
      description: 'For a Redis behind rediss. Files are PEM.',
      additionalProperties: false,
      properties: {
        ca: file("File with the authorities to trust, instead of the system's."),
        cert: file('File with the certificate to present to Redis; needs `key`.'),
        key: file('File with the private key of `cert`.'),
        server_name: text('The name in its certificate, if it is not that of the URL.'),
      },
    },
  },
)
