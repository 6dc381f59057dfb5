import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '#proxy/config/sources/config-source.ts'
import { at, exampleValues, find, type Manifest, mergeValues, render, type Values } from './render.ts'
import { chart, hasTool, toolPath } from './tools/tool-path.ts'

const gatewayToo = mergeValues(exampleValues('everything'), {
  ...exampleValues('gateway'),
  plugin: { reuse: null },
  store: { existingClaim: '' },
  metrics: { podMonitor: { enabled: false }, serviceMonitor: { enabled: true } },
  secrets: { engineApiKey: { existingSecret: 'reprise' } },
  networkPolicy: { engines: { podSelector: { matchLabels: { app: 'vllm' } } }, egress: [{}] },
})
const cases: [string, Values][] = [
  ...readdirSync(join(chart, 'ci')).map((file): [string, Values] => {
    const name = file.replace('-values.yaml', '')
    return [name, exampleValues(name)]
  }),
  ['everything, as a gateway', gatewayToo],
]
const oldest = '1.29.0'
const versions = [oldest, '1.33.0', '1.37.0']

describe.each(cases)('%s', (_, values) => {
  test('helm lint --strict has nothing to say', () => {
    const { stdout, status } = spawnSync(
      toolPath('bin', 'helm'),
      ['lint', '--strict', '--kube-version', oldest, chart, '-f', '-'],
      { input: JSON.stringify(values), encoding: 'utf8' },
    )
    expect({ status, said: stdout.match(/\[(ERROR|WARNING)\].*/g) }).toEqual({ status: 0, said: null })
  })

  test.runIf(hasTool('schemas')).each(versions)('Kubernetes %s takes all of it', (version) => {
    const manifests = render(values, { kubernetes: version })
    const faults = manifests.flatMap((manifest) => {
      const validate = schemaOf(manifest, version)
      const { kind } = manifest
      return validate(manifest) ? [] : [`${kind}: ${JSON.stringify(validate.errors)}`]
    })
    expect(faults).toEqual([])
  })

  test.runIf(hasTool('bin', 'pod-security'))('its pods pass the restricted Pod Security profile', () => {
    const pods = render(values).flatMap(({ kind, metadata, spec }) => {
      if (kind === 'Pod') return [{ name: metadata.name, metadata, spec }]
      return kind === 'Deployment' ? [{ name: metadata.name, ...(spec as { template: object }).template }] : []
    })
    expect(pods.length).toBeGreaterThanOrEqual(2)
    expect(judgePods(pods)).toEqual('')
  })

  test('the configuration file is one that reprise starts with', () => {
    expect(loadRendered(values)).toMatchObject({ listen: '0.0.0.0:8080', drain_delay_seconds: 5 })
  })
})

test.each([
  'redis://redis:6379/2',
  'rediss+sentinel://sentinel-0:26379,sentinel-1:26379/mymaster',
  'rediss+cluster://redis-0:6379,redis-1:6379',
])('%s, with the certificates of a Secret, is a Redis that reprise takes', (url) => {
  const isSecure = url.startsWith('rediss')
  const tls = { existingSecret: isSecure ? 'redis-tls' : '', clientCertificate: isSecure }
  expect(loadRendered({ ...exampleValues('gateway'), redis: { url, tls } })).toMatchObject({
    redis: { url, ...(isSecure ? { tls: { ca: '/etc/reprise/redis-tls/ca.crt' } } : {}) },
  })
})

test.runIf(hasTool('bin', 'pod-security'))('the evaluator of profiles would find a pod that runs as root', () => {
  const root = render(
    mergeValues(exampleValues('gateway'), { podSecurityContext: { runAsUser: 0 }, securityContext: { runAsUser: 0 } }),
  )
  const { spec } = find(root, 'Deployment') as { spec: { template: object } }
  expect(judgePods([{ name: 'r', ...spec.template }])).toMatch(/runAsUser=0/)
})

test.runIf(hasTool('schemas'))('the schemas of Kubernetes would find a key that there is not', () => {
  const deployment = find(render(exampleValues('gateway')), 'Deployment')
  const validate = schemaOf(deployment, '1.33.0')
  expect(validate({ ...deployment, spec: { ...(deployment.spec as object), replica: 1 } })).toBe(false)
})

test.each<[string, Values, RegExp]>([
  ['a gateway without engines', {}, /engines: name the engines/],
  ['a sidecar without an image', { mode: 'sidecar' }, /engine\.image\.repository: name the image/],
  [
    'an engine of no version',
    { mode: 'sidecar', engine: { image: { repository: 'vllm' }, model: 'm' } },
    /give a tag or a digest/,
  ],
  [
    'no model',
    { mode: 'sidecar', engine: { image: { repository: 'vllm', tag: '1' } } },
    /engine\.model: name the model/,
  ],
  [
    'two places of Redis',
    { ...exampleValues('gateway'), redis: { url: 'redis://r', existingSecret: 's' } },
    /url or existingSecret, not both/,
  ],
  [
    'a monitor without a token',
    { ...exampleValues('gateway'), metrics: { podMonitor: { enabled: true } } },
    /Prometheus has to send the admin token/,
  ],
  [
    'two monitors',
    mergeValues(exampleValues('everything'), { metrics: { serviceMonitor: { enabled: true } } }),
    /not both/,
  ],
  [
    'an autoscaler that would never scale',
    { ...exampleValues('gateway'), autoscaling: { enabled: true } },
    /config\.limits\.in_flight_per_replica/,
  ],
  [
    'a port for two listeners',
    { ...exampleValues('gateway'), ports: { data: 9090 } },
    /ports\.data and ports\.admin are both 9090/,
  ],
  ['a port for two containers', mergeValues(exampleValues('vllm'), { engine: { port: 8080 } }), /share its ports/],
  [
    'two engines of one name',
    { engines: ['http://a', 'http://b'].map((url) => ({ url, id: 'same' })) },
    /two are called same/,
  ],
  ...['http://_http._tcp.a:8000', 'http://_http._tcp.a:80/v1', 'https://_http._tcp.a:443'].map(
    (url): [string, Values, RegExp] => [
      `a port beside those of SRV records: ${url}`,
      { engines: [{ url, id: 'a', discover: 'srv' }] },
      /the url of a has a port, which SRV records name: leave it out/,
    ],
  ),
  ...[
    ['http://a', 'http://a'],
    ['http://a', 'http://A:80/'],
    ['https://a:443/v1', 'https://a/v1'],
  ].map((urls): [string, Values, RegExp] => [
    `one URL twice: ${urls.join(' ')}`,
    { engines: urls.map((url) => ({ url })) },
    /engines: http.* is named twice: name each engine once/,
  ]),
  [
    'two aliases of one name',
    { ...exampleValues('gateway'), config: { aliases: ['a', 'b'].map((model) => ({ name: 'm', models: [model] })) } },
    /config\.aliases: two are called m: list all its models in one/,
  ],
  [
    'engines behind a sidecar',
    { ...exampleValues('vllm'), engines: [{ url: 'http://gpu-0:8000' }] },
    /engines are those behind a gateway, and mode is sidecar, .*: leave engines out, or choose mode: gateway/,
  ],
  [
    'more pods at least than at most',
    mergeValues(exampleValues('everything'), { autoscaling: { minReplicas: 9 } }),
    /autoscaling\.minReplicas is 9, more than autoscaling\.maxReplicas, 8: raise .*, or lower/,
  ],
  [
    'rights for the ServiceAccount of all pods',
    { engines: [{ url: 'http://a', discover: 'endpoints' }], serviceAccount: { create: false } },
    /the ServiceAccount default, .*: name one of reprise's own in serviceAccount\.name/,
  ],
  [
    'repeated events of an engine without events',
    { engines: [{ url: 'http://a', kind: 'vllm', replay: 'tcp://a:5558' }] },
    /http:\/\/a has replay and no events/,
  ],
  [
    'events of an engine of no kind',
    { engines: [{ url: 'http://a', id: 'a', events: 'tcp://a:5557' }] },
    /engines: a has events: write kind: vllm/,
  ],
  ['TLS for an engine without it', { engines: [{ url: 'http://a', tls: { ca: '/ca' } }] }, /write its url as https:/],
  [
    'a client CA of no Secret',
    { ...exampleValues('gateway'), secrets: { tls: { clientCa: true } } },
    /secrets\.tls\.existingSecret/,
  ],
  [
    'a client certificate of no Secret',
    { ...exampleValues('gateway'), redis: { url: 'rediss://r', tls: { clientCertificate: true } } },
    /redis\.tls\.existingSecret/,
  ],
  [
    'certificates for a Redis without TLS',
    { ...exampleValues('gateway'), redis: { url: 'redis://r', tls: { existingSecret: 's' } } },
    /behind rediss:/,
  ],
  [
    'an engine with a PYTHONPATH of its own',
    mergeValues(exampleValues('vllm'), { engine: { extraEnv: [{ name: 'PYTHONPATH', value: '/x' }] } }),
    /plugin\.extraPythonPath/,
  ],
  [
    'pages in SGLang, which needs another attention backend for them',
    mergeValues(exampleValues('vllm'), { engine: { kind: 'sglang' }, plugin: { pages: { min_ratio: 0.2 } } }),
    /plugin\.pages is for vLLM, and engine\.kind is sglang/,
  ],
  [
    'rows of a step in SGLang, where a load takes one step',
    mergeValues(exampleValues('vllm'), { engine: { kind: 'sglang' }, plugin: { reuse: { rows_per_step: 256 } } }),
    /plugin\.reuse\.rows_per_step is for vLLM, and engine\.kind is sglang/,
  ],
  [
    'pages beside a connector of one’s own',
    mergeValues(exampleValues('vllm'), { plugin: { pages: { every: 1 }, kvTransferConfig: { kv_connector: 'M' } } }),
    /plugin\.pages has no effect beside plugin\.kvTransferConfig/,
  ],
  [
    'pages of engines that the chart does not start',
    mergeValues(exampleValues('gateway'), { plugin: { pages: { every: 1 } } }),
    /plugin\.pages is for an engine that the chart starts, and mode gateway starts none/,
  ],
  [
    'pages without the plugin',
    mergeValues(exampleValues('vllm'), { plugin: { enabled: false, pages: { every: 1 } } }),
    /plugin\.pages has no effect without the plugin: write plugin\.enabled: true/,
  ],
  [
    'a connector for an engine that has none',
    mergeValues(exampleValues('sglang'), { plugin: { kvTransferConfig: { kv_connector: 'RepriseConnector' } } }),
    /plugin\.kvTransferConfig is for vLLM, and engine\.kind is sglang/,
  ],
  [
    'a monitor that the network policy keeps out',
    mergeValues(exampleValues('gateway'), {
      networkPolicy: { enabled: true, admin: null },
      metrics: { podMonitor: { enabled: true } },
      secrets: { adminToken: { existingSecret: 's' } },
    }),
    /networkPolicy\.admin is empty/,
  ],
  [
    'an Ingress of no host',
    { ...exampleValues('gateway'), ingress: { enabled: true } },
    /ingress\.hosts is empty.*\[llm\.example\.com\]/,
  ],
  [
    'a route of no Gateway',
    { ...exampleValues('gateway'), httpRoute: { enabled: true } },
    /httpRoute\.parentRefs is empty.*\{name: gateway/,
  ],
  [
    'an Ingress to no Service',
    { mode: 'library', ingress: { enabled: true, hosts: ['a.b'] } },
    /ingress needs the Service/,
  ],
  [
    'a route that the network policy keeps out',
    mergeValues(exampleValues('everything'), { networkPolicy: { apps: null } }),
    /networkPolicy\.apps is empty, .* httpRoute may not/,
  ],
  [
    'certificates of clients behind an Ingress',
    mergeValues(exampleValues('everything'), { secrets: { tls: { clientCa: true } }, httpRoute: { enabled: false } }),
    /secrets\.tls\.clientCa .* ingress has none/,
  ],
  [
    'an Ingress that would send HTTP to HTTPS',
    mergeValues(exampleValues('everything'), { ingress: { annotations: null } }),
    /ingress\.annotations, such as .*backend-protocol: HTTPS/,
  ],
  [
    'a route that would send HTTP to HTTPS',
    mergeValues(exampleValues('everything'), { httpRoute: { annotations: null } }),
    /what serves httpRoute speaks HTTP .* in httpRoute\.annotations, .* BackendTLSPolicy/,
  ],
  ['a host of an Ingress that is none', { ingress: { hosts: ['https://a.b'] } }, /ingress\/hosts\/0/],
  ['a variable that is no setting', { ...exampleValues('gateway'), extraEnv: [{ name: 'REPRISE_FOO' }] }, /REPRISE_/],
  [
    'a tenant named by nobody',
    { ...exampleValues('gateway'), config: { tenants: { from: 'header' } } },
    /config\.tenants\.trusted_peers/,
  ],
  [
    'a limit of memory below the request',
    { ...exampleValues('gateway'), resources: { limits: { memory: '256Mi' } } },
    /resources\.limits\.memory is 256Mi, less than resources\.requests\.memory, 1Gi: raise the limit, or lower/,
  ],
  [
    'a limit of CPU below the request, in other units',
    { ...exampleValues('gateway'), resources: { limits: { cpu: 0.25 } } },
    /resources\.limits\.cpu is 0\.25, less than resources\.requests\.cpu, 500m/,
  ],
  [
    'a limit of the plugin’s container below its request',
    mergeValues(exampleValues('vllm'), { plugin: { resources: { limits: { memory: '100M' } } } }),
    /plugin\.resources\.limits\.memory is 100M, less than plugin\.resources\.requests\.memory, 128Mi/,
  ],
  [
    'a limit of the engine’s container below its request',
    mergeValues(exampleValues('vllm'), { engine: { resources: { requests: { cpu: '4' }, limits: { cpu: '3500m' } } } }),
    /engine\.resources\.limits\.cpu is 3500m, less than engine\.resources\.requests\.cpu, 4/,
  ],
  ...['32Mi', '63Mi', '60M'].map((memory): [string, Values, RegExp] => [
    `a limit of ${memory}, which one body alone may exceed`,
    { ...exampleValues('gateway'), resources: { requests: { memory }, limits: { memory } } },
    new RegExp(`resources\\.limits\\.memory is ${memory}, and one body alone may take 64Mi: .*body_bytes`),
  ]),
  [
    'a range that is none',
    { ...exampleValues('gateway'), networkPolicy: { apps: [{ ipBlock: { cidr: '10.0.0.0/33' } }] } },
    /networkPolicy\/apps\/0\/ipBlock\/cidr/,
  ],
  ['a label that is none', { ...exampleValues('gateway'), commonLabels: { team: 'a b' } }, /commonLabels\/team/],
  ['a key of a label that is none', { ...exampleValues('gateway'), podLabels: { 'a b': 'c' } }, /propertyName 'a b'/],
  ['a host that is none', { ...exampleValues('gateway'), listenHost: '0.0.0.0:80' }, /listenHost/],
  ['a port that is none', { engines: [{ url: 'http://a:65536' }] }, /engines\/0\/url/],
  ...['127.0.0.1', '127.1.2.3', '::1', 'localhost'].map((listenHost): [string, Values, RegExp] => [
    `the loopback as ${listenHost}`,
    { ...exampleValues('gateway'), listenHost },
    /listenHost is .*: write 0\.0\.0\.0, or "::"/,
  ]),
  ['too little time to end', { ...exampleValues('gateway'), terminationGracePeriodSeconds: 30 }, /add up to 70/],
  ['an unknown value', { ...exampleValues('gateway'), replicaCount: 2 }, /'replicaCount' not allowed/],
  ['an unknown setting', { ...exampleValues('gateway'), config: { limit: {} } }, /'limit' not allowed/],
])('%s is refused, with what to write', (_, values, reason) => {
  expect(() => render(values)).toThrow(reason)
})

test.each<[string, Values]>([
  ['equal in other units', { requests: { cpu: 0.5, memory: '1024Mi' }, limits: { cpu: '500m', memory: '1Gi' } }],
  ['a plain number', { limits: { memory: 2_000_000_000 } }],
  ['no limit', { limits: { memory: null } }],
  ['no request', { requests: { memory: null }, limits: { memory: '512Mi' } }],
  ['in a form that the chart does not read', { limits: { memory: '1e9' } }],
])('resources that Kubernetes takes are not refused: %s', (_, resources) => {
  expect(render({ ...exampleValues('gateway'), resources }).length).toBeGreaterThan(0)
})

test('engines whose URLs differ are not refused', () => {
  const urls = ['http://a', 'http://a:443', 'https://a', 'http://a/v1', 'http://a/V1', 'http://a/v1:80']
  expect(render({ engines: urls.map((url) => ({ url })) }).length).toBeGreaterThan(0)
  expect(render({ engines: [{ url: 'http://_http._tcp.a', discover: 'srv' }] }).length).toBeGreaterThan(0)
})

test('rights go to a ServiceAccount that is named', () => {
  const engines = [{ url: 'http://a', discover: 'endpoints' }]
  const rendered = render({ engines, serviceAccount: { create: false, name: 'mine' } })
  expect(at(find(rendered, 'RoleBinding'), 'subjects[0].name')).toBe('mine')
})

test('gateways that name tenants are not refused', () => {
  const config = { tenants: { from: 'header', trusted_peers: ['10.0.0.0/8'] } }
  expect(loadRendered({ ...exampleValues('gateway'), config })).toMatchObject(config)
})

describe('the network policy of engines that are selected', () => {
  const podSelector = { matchLabels: { app: 'vllm' } }
  const peer = { namespaceSelector: {} }
  const policyOf = (name: string, values: Values): IngressRules =>
    find(
      render(mergeValues({ networkPolicy: { enabled: true, engines: { podSelector } } }, values)),
      'NetworkPolicy',
      name,
    ).spec as IngressRules

  test('opens each port that the values name, once, in order', () => {
    const engines = [
      {
        url: 'http://vllm-0.vllm:30000/base',
        kind: 'vllm',
        events: 'tcp://vllm-0.vllm:5557',
        replay: 'tcp://vllm-0.vllm:5558',
      },
      { url: 'https://vllm-1.vllm', kind: 'vllm', events: 'tcp://[fd00::1]:5557' },
      { url: 'http://[fd00::2]', kind: 'vllm' },
      { url: 'http://vllm-3.vllm:8000' },
    ]
    const { ingress } = policyOf('r-reprise-engines', { engines })
    expect(ingress).toHaveLength(1)
    expect(ingress[0]!.ports).toEqual([80, 443, 5557, 5558, 8000, 30000].map((port) => ({ port, protocol: 'TCP' })))
  })

  test.each([
    ['beside others', [peer], [peer, { podSelector }]],
    ['alone', [], [{ podSelector }]],
  ])('lets them report to the admin port, %s', (_, admin, from) => {
    const { ingress } = policyOf('r-reprise', mergeValues(exampleValues('gateway'), { networkPolicy: { admin } }))
    expect(ingress.slice(1)).toEqual([{ ports: [{ port: 9090, protocol: 'TCP' }], from }])
  })

  test('lets nobody to the admin port of a sidecar, whose engine reports on the loopback', () => {
    expect(policyOf('r-reprise', exampleValues('vllm')).ingress).toHaveLength(1)
  })
})

interface IngressRules {
  readonly ingress: readonly { readonly ports: readonly object[]; readonly from: readonly object[] }[]
}

test('a Kubernetes without native sidecars is refused', () => {
  expect(() => render(exampleValues('vllm'), { kubernetes: '1.28.9' })).toThrow(/incompatible with Kubernetes v1\.28/)
})

/** Returns the settings reprise loads from the rendered configuration file. Throws the error that would stop it. */
function loadRendered(values: Values): object {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-chart-'))
  const file = join(folder, 'reprise.yaml')
  writeFileSync(file, find(render(values), 'ConfigMap', 'r-reprise').data!['reprise.yaml']!)
  try {
    return loadConfig({ file, environment: {} }).settings
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function judgePods(pods: readonly object[]): string {
  return spawnSync(toolPath('bin', 'pod-security'), { input: JSON.stringify(pods), encoding: 'utf8' }).stdout
}

const compiled = new Map<string, ValidateFunction>()

/**
 * Returns the schema of the CRD for kinds of the Prometheus operator and the Gateway API, else that of `version`, strict about unknown keys.
 */
function schemaOf({ apiVersion, kind }: Manifest, version: string): ValidateFunction {
  const key = `${version} ${apiVersion} ${kind}`
  const known = compiled.get(key)
  if (known) return known
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const validate = /^(monitoring\.coreos\.com|gateway\.networking\.k8s\.io)\//.test(apiVersion)
    ? ajv.compile(readCrd(kind))
    : compileKind(ajv, apiVersion, kind, version)
  compiled.set(key, validate)
  return validate
}

function compileKind(ajv: Ajv2020, apiVersion: string, kind: string, version: string): ValidateFunction {
  const folder = toolPath('schemas', 'kubernetes_validate', 'kubernetes-json-schema', `v${version}-local-strict`)
  const read = (name: string): object => JSON.parse(readFileSync(join(folder, name), 'utf8')) as object
  ajv.addSchema(read('_definitions.json'), '/api/_definitions.json')
  const group = apiVersion.replace('.k8s.io', '').replace('/', '-')
  return ajv.compile(read(`${kind}-${group}.json`.toLowerCase()))
}

function readCrd(kind: string): object {
  const crd = parse(readFileSync(toolPath('crds', `${kind.toLowerCase()}s.yaml`), 'utf8')) as {
    spec: { versions: { schema: { openAPIV3Schema: object } }[] }
  }
  return { ...closed(crd.spec.versions[0]!.schema.openAPIV3Schema), $id: kind }
}

/** Forbids unknown keys, which the operator would silently drop. */
function closed(schema: object): object {
  if (Array.isArray(schema)) return schema.map((element) => (typeof element === 'object' ? closed(element) : element))
  // JavaScript does not support Go's inline flag to ignore case
  const kept = Object.entries(schema).filter(([key, value]) => !(key === 'pattern' && String(value).includes('(?i)')))
  const entries = kept.map(([key, value]) => [key, typeof value === 'object' && value !== null ? closed(value) : value])
  const isGroup = 'properties' in schema && 'type' in schema && Object.keys(schema.properties as object).length > 1
  return { ...Object.fromEntries(entries), ...(isGroup ? { additionalProperties: false } : {}) }
}

describe('discover: endpoints', () => {
  const engines = (...urls: string[]): Values => ({
    ...exampleValues('gateway'),
    engines: urls.map((url, i) => ({ url, kind: 'vllm', id: `vllm-${i}`, discover: 'endpoints' })),
  })
  const mounts = (values: Values): unknown => {
    const { template } = find(render(values), 'Deployment').spec as { template: { spec: Record<string, unknown> } }
    return template.spec.automountServiceAccountToken
  }

  test('may watch the slices of each namespace, and nothing else', () => {
    const values = engines('http://vllm:8000', 'http://big.gpu.svc.cluster.local:8000/v1', 'https://small.gpu')
    const roles = render(values).filter(({ kind }) => kind === 'Role') as (Manifest & { rules: unknown })[]
    expect(roles.map(({ metadata }) => (metadata as { namespace?: string }).namespace)).toEqual(['ai', 'gpu'])
    for (const { rules } of roles)
      expect(rules).toEqual([
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
      ])
    const account = find(render(values), 'ServiceAccount').metadata.name
    for (const binding of render(values).filter(({ kind }) => kind === 'RoleBinding')) {
      expect(binding).toMatchObject({
        roleRef: { kind: 'Role', name: roles[0]!.metadata.name },
        subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'ai' }],
      })
    }
    expect(mounts(values)).toBe(true)
  })

  test('without it the pod has neither a token nor rights', () => {
    const values = exampleValues('gateway')
    expect(mounts(values)).toBe(false)
    expect(render(values).filter(({ kind }) => kind.startsWith('Role'))).toEqual([])
  })
})
