import { configSchema } from '#proxy/config/schema/config-schema.ts'
import type { SettingSchema } from '#proxy/config/schema/setting-schema.ts'
import { environmentNames } from '#proxy/config/sources/read-environment.ts'
import {
  annotations,
  flag,
  type Json,
  labels,
  list,
  listOf,
  map,
  matching,
  name,
  named,
  networkPolicy,
  oneOf,
  only,
  path,
  port,
  portOrShare,
  quantity,
  share,
  text,
  whole,
} from './value-parts.ts'
import * as patterns from './value-patterns.ts'

/** Settings that the chart's `config` does not accept, and the values to use instead. */
export const setByTheChart: Readonly<Record<string, string>> = {
  listen: 'listenHost, ports.data',
  admin: 'listenHost, ports.admin, secrets.adminToken',
  engines: 'engines, engine',
  engine_api_key: 'secrets.engineApiKey',
  'keys.file': 'secrets.keys',
  'tenants.salt_secret': 'secrets.saltSecret',
  tls: 'secrets.tls',
  'redis.url': 'redis.url, redis.existingSecret',
  'redis.tls.ca': 'redis.tls.existingSecret',
  'redis.tls.cert': 'redis.tls.clientCertificate',
  'redis.tls.key': 'redis.tls.clientCertificate',
}

/** Environment variables that the chart sets from its own values. */
const variablesOfTheChart = /^REPRISE_(CONFIG|LISTEN|ADMIN|ADMIN_LISTEN|ENGINES)$/
/** Environment variables of our containers; an unknown variable that looks like a setting would stop the start. */
const ownEnv = listOf({
  type: 'object',
  required: ['name'],
  properties: {
    name: {
      anyOf: [
        { type: 'string', not: { pattern: '^REPRISE_' } },
        { enum: environmentNames(configSchema).filter((variable) => !variablesOfTheChart.test(variable)) },
      ],
    },
  },
})

const image = only({
  repository: text,
  tag: text,
  digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
})
const secret = only({ existingSecret: named, key: name })
const monitor = only({ enabled: flag, interval: { type: 'string', pattern: '^[0-9]+(ms|s|m)$' }, labels })
const thresholds = only({
  failOpenRatio: share,
  hitRatioShare: share,
  queueDepth: whole(0),
  unreachableRatio: share,
  errorRatio: share,
  limitedRatio: share,
  overheadSeconds: { type: 'number', exclusiveMinimum: 0 },
  storeFailureRatio: share,
  storeUnwrittenRatio: share,
})

const engine = only({
  kind: oneOf('vllm', 'sglang'),
  image,
  model: text,
  servedModelName: text,
  port: whole(0, 65_535),
  id: { type: 'string', minLength: 1, pattern: '^[\\w.-]{1,128}$' },
  extraArgs: listOf(text),
  command: listOf(text),
  extraEnv: list,
  envFrom: list,
  resources: map,
  securityContext: map,
  python: name,
  probes: only({
    startupSeconds: whole(5),
    periodSeconds: whole(1),
    timeoutSeconds: whole(1),
    unreadyAfter: whole(1),
    restartAfter: whole(1),
  }),
  stopSeconds: whole(0),
  shmSize: quantity,
  home: only({ existingClaim: named, sizeLimit: quantity }),
  extraVolumeMounts: list,
})

const part = { type: 'number', minimum: 0, maximum: 1 }
/** The settings of reuse in an engine's plugin (`reprise_settings/reuse_settings.py`). */
const reuse = only({
  ratio: part,
  min_ratio: part,
  max_ratio: part,
  method: name,
  host_bytes: whole(1),
  host_dtype: oneOf('model', 'int8', 'k8v4'),
  ratio_of: oneOf('work', 'tokens'),
  disk: path,
  disk_bytes: whole(1),
  remote: matching('^(file:///|mooncake://).'),
  contexts: whole(1),
  rows_per_step: whole(1),
  least_tokens: whole(1),
  store: oneOf('averaged', 'preprocessed', 'all'),
  trusted_salts: listOf(text),
  preprocess_key: name,
  when: oneOf('faster', 'always'),
  check: part,
})
/** The settings of page selection in the vLLM plugin (`reprise_vllm/select_pages/settings.py`). */
const pages = only({
  min_ratio: part,
  selector: name,
  grids: part,
  chunks: part,
  least_tokens: whole(1),
  least_saving: whole(0),
  requests: whole(1),
  sinks: whole(0),
  recent: whole(1),
  every: whole(0),
  max_entropy: { type: 'number', minimum: 0, maximum: 1000 },
  max_varentropy: { type: 'number', minimum: 0, maximum: 1000 },
  thresholds: path,
})
const plugin = only({
  enabled: flag,
  image,
  mountPath: path,
  extraPythonPath: text,
  command: listOf(text),
  kvTransferConfig: map,
  reuse,
  pages,
  eviction: oneOf('', 'hotprefix'),
  resources: map,
})

const store = only({
  existingClaim: named,
  mooncake: only({
    enabled: flag,
    segmentSize: quantity,
    // those of `mooncake://`, less `local`, which differs from pod to pod
    options: only({ protocol: name, devices: text, buffer_bytes: whole(1), metadata: name }),
    image,
    resources: map,
  }),
})

const secrets = only({
  adminToken: secret,
  engineApiKey: secret,
  saltSecret: secret,
  keys: secret,
  tls: only({ existingSecret: named, clientCa: flag }),
})

const redis = only({
  // no password: it would end up in the ConfigMap
  url: matching(patterns.redisUrl),
  existingSecret: named,
  key: name,
  tls: only({ existingSecret: named, clientCertificate: flag }),
})

const autoscaling = only({
  enabled: flag,
  minReplicas: whole(1),
  maxReplicas: whole(1),
  queueDepth: whole(1),
  extraMetrics: list,
  behavior: map,
})

/** Where nobody can connect to: an engine listens there. */
const anywhere = '^tcp://(0\\.0\\.0\\.0|\\[::\\]):'
const events = { ...matching(patterns.eventsUrl), not: { pattern: anywhere } }
/** What the chart demands beyond the schema of the configuration, which reprise checks when it starts. */
const stricter: Readonly<Record<string, Json>> = {
  'tenants.trusted_peers[]': { pattern: patterns.rangeOrAddress },
}

const metrics = only({
  podMonitor: monitor,
  serviceMonitor: monitor,
  prometheusRule: only({
    enabled: flag,
    labels,
    selector: text,
    thresholds,
    engineReports: { type: ['boolean', 'null'] },
    extraRules: list,
  }),
  dashboard: only({ enabled: flag, labels, annotations }),
})

const workload: Record<string, Json> = {
  replicas: whole(0),
  strategy: map,
  listenHost: matching(patterns.host),
  ports: only({ data: port, admin: port }),
  resources: map,
  securityContext: map,
  podSecurityContext: map,
  probes: only({
    periodSeconds: whole(1),
    timeoutSeconds: whole(1),
    unreadyAfter: whole(1),
    restartAfter: whole(1),
    startupSeconds: whole(1),
  }),
  extraEnv: ownEnv,
  envFrom: list,
  extraArgs: listOf(text),
  extraVolumeMounts: list,
  extraVolumes: list,
  extraInitContainers: list,
  extraContainers: list,
  podAnnotations: annotations,
  podLabels: labels,
  nodeSelector: labels,
  tolerations: list,
  affinity: map,
  priorityClassName: text,
  runtimeClassName: text,
  terminationGracePeriodSeconds: whole(0),
  topologySpread: only({ enabled: flag, constraints: list }),
}

/** Returns the schema of the chart's values: its own, and those taken over from the product's configuration. */
export function valuesSchema(): Json {
  const { api_key: _, ...item } = configSchema.properties!.engines!.items!.properties!
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart reprise',
    description: 'Written by `npm run chart:schema`; `config` and `engines` are as in docs/config.schema.json.',
    ...only({
      mode: oneOf('gateway', 'sidecar', 'library'),
      nameOverride: matching(patterns.namePart),
      fullnameOverride: matching(patterns.namePart),
      commonLabels: labels,
      commonAnnotations: annotations,
      image,
      imagePullSecrets: list,
      engines: listOf({
        ...only({ ...mapValues(item, toValues), url: matching(patterns.engineUrl), events, replay: events }),
        required: ['url'],
      }),
      engine,
      plugin,
      store,
      config: { ...toValues(configSchema), description: 'The configuration file, less what the chart sets.' },
      restartOnConfigChange: flag,
      secrets,
      redis,
      ...workload,
      serviceAccount: only({ create: flag, name: named, annotations }),
      service: only({
        type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
        port,
        annotations,
        sessionAffinity: oneOf('None', 'ClientIP'),
      }),
      ingress: only({
        enabled: flag,
        className: named,
        annotations,
        hosts: listOf(matching(patterns.dnsName)),
        tls: only({ existingSecret: named }),
      }),
      httpRoute: only({
        enabled: flag,
        annotations,
        parentRefs: listOf({ type: 'object', required: ['name'] }),
        hostnames: listOf(matching(patterns.dnsName)),
      }),
      podDisruptionBudget: only({ enabled: flag, maxUnavailable: portOrShare }),
      autoscaling,
      networkPolicy,
      metrics,
      test: only({ model: text, apiKey: secret }),
      // Helm passes it to every chart that another one depends on
      global: map,
    }),
  }
}

/** Converts a setting's schema to one for values: without defaults, and without the settings that the chart sets. */
function toValues(schema: SettingSchema, path = ''): Json {
  const { default: _, $comment: __, format: ___, properties, items, ...rest } = schema
  const kept = Object.entries(properties ?? {}).filter(([key]) => !((path ? `${path}.${key}` : key) in setByTheChart))
  return {
    ...withoutMeta(rest),
    ...stricter[path],
    ...(items ? { items: toValues(items, `${path}[]`) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            kept.map(([key, value]) => [key, toValues(value, path ? `${path}.${key}` : key)]),
          ),
        }
      : {}),
  }
}

/**
 * Helm's regular expressions have no lookaround or backreferences; such patterns are checked only when reprise starts.
 */
const unknownToHelm = /\(\?(?:[=!]|<[=!])|\\[1-9]/

function withoutMeta({ $schema: _, title: __, pattern, ...rest }: Json & { readonly pattern?: string }): Json {
  return pattern === undefined || unknownToHelm.test(pattern) ? rest : { ...rest, pattern }
}

function mapValues(
  record: Readonly<Record<string, SettingSchema>>,
  change: (schema: SettingSchema) => Json,
): Record<string, Json> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
