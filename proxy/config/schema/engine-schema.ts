import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { engineIdPattern, eventsUrlPattern } from '../read-arguments.ts'
import { clientTls, matching, type SettingSchema, text } from './setting-schema.ts'

const eventsReason = 'write tcp://HOST:PORT'

export const engineSchema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  properties: {
    url: matching('The URL of the engine.', '^https?://', 'write http://HOST:PORT'),
    kind: {
      description: 'The kind of engine. With `openai` nothing is ever added to a request.',
      enum: engineKinds,
      default: 'openai',
    },
    id: matching(
      'Its unique name in headers, metrics and callbacks. Without one: engine, engine-2, …',
      engineIdPattern,
      'use letters, digits, dots, hyphens and underscores',
    ),
    api_key: text("Sent to the engine as bearer token instead of the client's."),
    events: matching('Where the engine publishes its cache events.', eventsUrlPattern, eventsReason),
    replay: matching('Where the engine replays missed cache events.', eventsUrlPattern, eventsReason),
    models: {
      type: 'array',
      description:
        'The models that it serves, for one that does not list them at `/v1/models`. Without it: it is asked.',
      items: text('A name, as requests have it.'),
      minItems: 1,
    },
    discover: {
      description:
        'The host of `url` stands for several engines: one at each of its `addresses` (A, AAAA), at each target of its `srv` records, which name the ports, or at each ready pod in the `endpoints` of the Kubernetes Service of that name. Each is called ID-ADDRESS, ID and the first label of its name, or more where another has it too, or ID and its pod.',
      enum: ['addresses', 'srv', 'endpoints'],
    },
    tls: clientTls('For an engine behind https. Files are PEM.', 'the engine'),
  },
}

export const aliasSchema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'models'],
  properties: {
    name: text('The name that clients send.'),
    models: {
      type: 'array',
      description: 'What it stands for: the first of these of which an engine is ready.',
      items: text('A model that an engine serves.'),
      minItems: 1,
    },
  },
}
