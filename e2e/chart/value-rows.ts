import { expect } from 'vitest'
import { exampleValues, type Values } from './render.ts'

/** The base values that a row modifies. */
export const bases: Readonly<Record<'gateway' | 'vllm' | 'sglang' | 'mooncake' | 'everything', Values>> = {
  gateway: exampleValues('gateway'),
  vllm: exampleValues('vllm'),
  sglang: exampleValues('sglang'),
  mooncake: exampleValues('mooncake'),
  everything: exampleValues('everything'),
}

/**
 * A value's path, the base it modifies, the value itself, where it shows in which object, and what is expected there.
 */
export type Row = readonly [path: string, base: keyof typeof bases, value: unknown, where: string, expected: unknown]

const template = 'Deployment spec.template.'
const pod = `${template}spec.`
const proxy = `${pod}containers[name=reprise].`
const sidecar = `${pod}initContainers[name=reprise].`
const init = `${pod}initContainers[name=reprise-plugin].`
const engine = `${pod}containers[name=engine].`
const config = 'ConfigMap/r-reprise data.reprise~yaml >'
const rule = 'PrometheusRule spec.groups[0].rules'
const peer = { podSelector: { matchLabels: { a: 'b' } } }
const volume = { name: 'v', emptyDir: {} }
const mount = { name: 'v', mountPath: '/v' }
const variable = { name: 'A', value: 'b' }
const digest = `sha256:${'0'.repeat(64)}`
const limits = { limits: { memory: '1Gi' } }
const context = { runAsUser: 1000 }
const key = 'another'

const secrets = '/etc/reprise/secrets'

const master = 'Deployment/r-reprise-store spec.template.spec.containers[0].'
const ofMaster = { store: { mooncake: { image: { repository: 'm', tag: '1' } } } }
const reuse = { plugin: { reuse: { ratio: 0.2 } } }
const sharing = 'Deployment/r-reprise spec.template.spec.containers[name=engine].args[4]'

function secretOf(secretName: string, key: string): object {
  return { secretName, items: [{ key, path: key }] }
}

function variableOf(name: string, key: string): object {
  return { valueFrom: { secretKeyRef: { name, key } } }
}

function volumeOf(folder: string): string {
  return `${pod}volumes[name=reprise-${folder}].secret`
}

function fileOf(setting: string): string {
  return `${sidecar}env[name=REPRISE_${setting}_FILE].value`
}

export const rows: readonly Row[] = [
  ['mode', 'vllm', 'library', 'Deployment', undefined],
  ['nameOverride', 'gateway', 'other', 'Deployment metadata.name', 'r-other'],
  ['fullnameOverride', 'gateway', 'other', 'Deployment metadata.name', 'other'],
  ['commonLabels', 'gateway', { team: 'ai' }, 'Service/r-reprise metadata.labels.team', 'ai'],
  ['commonAnnotations', 'gateway', { team: 'ai' }, `${template}metadata.annotations.team`, 'ai'],
  ['image.repository', 'gateway', 'registry/reprise', `${proxy}image`, 'registry/reprise:0.1.0'],
  ['image.tag', 'vllm', 'v9', `${sidecar}image`, 'reprise:v9'],
  ['image.digest', 'gateway', digest, `${proxy}image`, `reprise@${digest}`],
  ['image.pullPolicy', 'gateway', 'Always', `${proxy}imagePullPolicy`, 'Always'],
  ['imagePullSecrets', 'gateway', [{ name: 's' }], `${pod}imagePullSecrets[0].name`, 's'],
  ['replicas', 'gateway', 5, 'Deployment spec.replicas', 5],
  ['strategy', 'gateway', { rollingUpdate: { maxSurge: 0 } }, 'Deployment spec.strategy.rollingUpdate.maxSurge', 0],
  ['listenHost', 'gateway', '::', `${config} listen`, '[::]:8080'],
  ['ports.data', 'gateway', 81, `${config} listen`, '0.0.0.0:81'],
  [
    'ports.admin',
    'vllm',
    91,
    `${engine}env[name=REPRISE_CALLBACK_URL].value`,
    'http://127.0.0.1:91/v1/replicas/engine',
  ],
  ['engines', 'gateway', [{ url: 'http://e:1' }], `${config} engines[0].url`, 'http://e:1'],
  ['engine.kind', 'vllm', 'sglang', `${engine}command[2]`, 'sglang.launch_server'],
  ['engine.image.repository', 'vllm', 'e', `${engine}image`, 'e:v0.32.0'],
  ['engine.image.tag', 'vllm', 't', `${engine}image`, 'vllm/vllm-openai:t'],
  ['engine.image.digest', 'vllm', digest, `${engine}image`, `vllm/vllm-openai@${digest}`],
  ['engine.image.pullPolicy', 'vllm', 'Never', `${engine}imagePullPolicy`, 'Never'],
  ['engine.model', 'sglang', '/models/m', `${engine}args[0]`, '--model-path=/models/m'],
  ['engine.servedModelName', 'vllm', 'm', `${engine}args[1]`, '--served-model-name=m'],
  ['engine.port', 'sglang', 7, `${config} engines[0].url`, 'http://127.0.0.1:7'],
  ['engine.id', 'vllm', 'gpu-0', `${config} engines[0].id`, 'gpu-0'],
  ['engine.extraArgs', 'vllm', ['--x=1'], `${engine}args[5]`, '--x=1'],
  ['engine.command', 'vllm', ['serve-it'], `${engine}command[0]`, 'serve-it'],
  ['engine.extraEnv', 'vllm', [variable], `${engine}env[name=A].value`, 'b'],
  ['engine.envFrom', 'vllm', [{ secretRef: { name: 's' } }], `${engine}envFrom[0].secretRef.name`, 's'],
  ['engine.resources', 'vllm', limits, `${engine}resources.limits.memory`, '1Gi'],
  ['engine.securityContext', 'vllm', context, `${engine}securityContext.runAsUser`, 1000],
  ['engine.python', 'vllm', '/venv/python', `${engine}readinessProbe.exec.command[0]`, '/venv/python'],
  ['engine.probes.startupSeconds', 'vllm', 61, `${engine}startupProbe.failureThreshold`, 13],
  ['engine.probes.periodSeconds', 'vllm', 9, `${engine}readinessProbe.periodSeconds`, 9],
  ['engine.probes.timeoutSeconds', 'vllm', 9, `${engine}livenessProbe.timeoutSeconds`, 9],
  ['engine.probes.unreadyAfter', 'vllm', 9, `${engine}readinessProbe.failureThreshold`, 9],
  ['engine.probes.restartAfter', 'vllm', 9, `${engine}livenessProbe.failureThreshold`, 9],
  ['engine.stopSeconds', 'vllm', 100, `${pod}terminationGracePeriodSeconds`, 175],
  ['engine.shmSize', 'vllm', '8Gi', `${pod}volumes[name=engine-shm].emptyDir.sizeLimit`, '8Gi'],
  ['engine.home.existingClaim', 'vllm', 'c', `${pod}volumes[name=engine-home].persistentVolumeClaim.claimName`, 'c'],
  ['engine.home.sizeLimit', 'vllm', '9Gi', `${pod}volumes[name=engine-home].emptyDir.sizeLimit`, '9Gi'],
  ['engine.extraVolumeMounts', 'vllm', [mount], `${engine}volumeMounts[name=v].mountPath`, '/v'],
  ['plugin.enabled', 'vllm', false, `${engine}env[name=PYTHONPATH]`, undefined],
  ['plugin.image.repository', 'vllm', 'p', `${init}image`, 'p:0.1.0'],
  ['plugin.image.tag', 'vllm', 't', `${init}image`, 'reprise-plugins:t'],
  ['plugin.image.digest', 'vllm', digest, `${init}image`, `reprise-plugins@${digest}`],
  ['plugin.image.pullPolicy', 'vllm', 'Always', `${init}imagePullPolicy`, 'Always'],
  ['plugin.mountPath', 'vllm', '/p', `${engine}env[name=PYTHONPATH].value`, '/p'],
  ['plugin.extraPythonPath', 'vllm', '/x', `${engine}env[name=PYTHONPATH].value`, '/opt/reprise/plugins:/x'],
  ['plugin.command', 'vllm', ['cp', '-r', '/plugins'], `${init}command`, ['cp', '-r', '/plugins']],
  [
    'plugin.kvTransferConfig',
    'vllm',
    { kv_connector: 'M' },
    `${engine}args[4]`,
    '--kv-transfer-config={"kv_connector":"M"}',
  ],
  [
    'plugin.reuse',
    'vllm',
    { ratio: 0.2 },
    `${engine}args[4]`,
    '--kv-transfer-config={"kv_connector":"RepriseConnector","kv_connector_extra_config":{"reuse":{"ratio":0.2}},"kv_connector_module_path":"reprise_vllm.connector","kv_role":"kv_both"}',
  ],
  ['plugin.reuse', 'sglang', { ratio: 0.2 }, `${engine}env[name=REPRISE_REUSE].value`, '{"ratio":0.2}'],
  [
    'plugin.pages',
    'vllm',
    { min_ratio: 0.2 },
    `${engine}args[4]`,
    '--kv-transfer-config={"kv_connector":"RepriseConnector","kv_connector_extra_config":{"pages":{"min_ratio":0.2}},"kv_connector_module_path":"reprise_vllm.connector","kv_role":"kv_both"}',
  ],
  [
    'plugin.eviction',
    'vllm',
    'hotprefix',
    `${engine}args[4]`,
    '--kv-transfer-config={"kv_connector":"RepriseConnector","kv_connector_extra_config":{"eviction":"hotprefix"},"kv_connector_module_path":"reprise_vllm.connector","kv_role":"kv_producer"}',
  ],
  ['plugin.resources', 'vllm', limits, `${init}resources.limits.memory`, '1Gi'],
  ['store.mooncake.enabled', 'mooncake', false, 'Service/r-reprise-store', undefined],
  ['store.mooncake.segmentSize', 'mooncake', '1Gi', sharing, expect.stringContaining('?segment_bytes=1073741824"')],
  [
    'store.mooncake.options',
    'mooncake',
    { protocol: 'rdma', devices: 'mlx5_0,mlx5_1', buffer_bytes: 1073741824 },
    sharing,
    expect.stringMatching(/buffer_bytes=1073741824.*devices=mlx5_0%2Cmlx5_1.*protocol=rdma"/),
  ],
  ['store.mooncake.image.pullPolicy', 'mooncake', 'Always', `${master}imagePullPolicy`, 'Always'],
  ['store.mooncake.resources', 'mooncake', { limits: { memory: '2Gi' } }, `${master}resources.limits.memory`, '2Gi'],
  ['config', 'gateway', { logs: { level: 'warn' } }, `${config} logs.level`, 'warn'],
  ['restartOnConfigChange', 'gateway', false, `${template}metadata.annotations.checksum/config`, undefined],
  ['secrets.adminToken.existingSecret', 'gateway', 's', volumeOf('admin-token'), secretOf('s', 'admin-token')],
  ['secrets.adminToken.key', 'everything', key, fileOf('ADMIN_TOKEN'), `${secrets}/admin-token/${key}`],
  ['secrets.engineApiKey.existingSecret', 'gateway', 's', volumeOf('engine-api-key'), secretOf('s', 'engine-api-key')],
  ['secrets.saltSecret.existingSecret', 'gateway', 's', volumeOf('tenants-salt-secret'), secretOf('s', 'salt-secret')],
  ['secrets.saltSecret.key', 'everything', key, fileOf('TENANTS_SALT_SECRET'), `${secrets}/tenants-salt-secret/${key}`],
  ['secrets.keys.existingSecret', 'gateway', 's', `${config} keys.file`, '/etc/reprise/keys/keys.yaml'],
  [
    'secrets.keys.key',
    'everything',
    key,
    `${pod}volumes[name=reprise-keys].secret.items[0]`,
    { key, path: 'keys.yaml' },
  ],
  ['secrets.tls.existingSecret', 'gateway', 's', `${pod}volumes[name=reprise-tls].secret.secretName`, 's'],
  ['redis.url', 'gateway', 'redis+cluster://a:1,b:1', `${config} redis.url`, 'redis+cluster://a:1,b:1'],
  ['redis.existingSecret', 'gateway', 's', volumeOf('redis-url'), secretOf('s', 'redis-url')],
  ['redis.key', 'everything', key, fileOf('REDIS_URL'), `${secrets}/redis-url/${key}`],
  ['redis.tls.existingSecret', 'gateway', 's', `${config} redis.tls.ca`, '/etc/reprise/redis-tls/ca.crt'],
  ['redis.tls.clientCertificate', 'everything', false, `${config} redis.tls.cert`, undefined],
  ['resources', 'gateway', limits, `${proxy}resources.limits.memory`, '1Gi'],
  ['securityContext', 'gateway', context, `${proxy}securityContext.runAsUser`, 1000],
  ['podSecurityContext', 'gateway', context, `${pod}securityContext.runAsUser`, 1000],
  ['probes.periodSeconds', 'gateway', 9, `${proxy}readinessProbe.periodSeconds`, 9],
  ['probes.timeoutSeconds', 'gateway', 9, `${proxy}livenessProbe.timeoutSeconds`, 9],
  ['probes.unreadyAfter', 'gateway', 9, `${proxy}readinessProbe.failureThreshold`, 9],
  ['probes.restartAfter', 'gateway', 9, `${proxy}livenessProbe.failureThreshold`, 9],
  ['probes.startupSeconds', 'gateway', 9, `${proxy}startupProbe.failureThreshold`, 9],
  ['extraEnv', 'vllm', [variable], `${sidecar}env[name=A].value`, 'b'],
  ['envFrom', 'gateway', [{ configMapRef: { name: 'c' } }], `${proxy}envFrom[0].configMapRef.name`, 'c'],
  ['extraArgs', 'gateway', ['--mode=shadow'], `${proxy}args[1]`, '--mode=shadow'],
  ['extraVolumeMounts', 'vllm', [mount], `${sidecar}volumeMounts[name=v].mountPath`, '/v'],
  ['extraVolumes', 'vllm', [volume], `${pod}volumes[name=v]`, volume],
  ['extraInitContainers', 'gateway', [{ name: 'i', image: 'i' }], `${pod}initContainers[0].name`, 'i'],
  ['extraContainers', 'gateway', [{ name: 'c', image: 'c' }], `${pod}containers[1].name`, 'c'],
  ['podAnnotations', 'gateway', { a: 'b' }, `${template}metadata.annotations.a`, 'b'],
  ['podLabels', 'gateway', { a: 'b' }, `${template}metadata.labels.a`, 'b'],
  ['nodeSelector', 'gateway', { a: 'b' }, `${pod}nodeSelector.a`, 'b'],
  ['tolerations', 'gateway', [{ operator: 'Exists' }], `${pod}tolerations[0].operator`, 'Exists'],
  ['affinity', 'gateway', { nodeAffinity: {} }, `${pod}affinity.nodeAffinity`, {}],
  ['priorityClassName', 'gateway', 'high', `${pod}priorityClassName`, 'high'],
  ['runtimeClassName', 'vllm', 'nvidia', `${pod}runtimeClassName`, 'nvidia'],
  ['terminationGracePeriodSeconds', 'gateway', 300, `${pod}terminationGracePeriodSeconds`, 300],
  ['topologySpread.enabled', 'gateway', false, `${pod}topologySpreadConstraints`, undefined],
  ['topologySpread.constraints', 'gateway', [{ maxSkew: 3 }], `${pod}topologySpreadConstraints[0].maxSkew`, 3],
  ['serviceAccount.create', 'gateway', false, `${pod}serviceAccountName`, 'default'],
  ['serviceAccount.name', 'gateway', 'sa', 'ServiceAccount metadata.name', 'sa'],
  ['serviceAccount.annotations', 'gateway', { a: 'b' }, 'ServiceAccount metadata.annotations.a', 'b'],
  ['service.type', 'gateway', 'LoadBalancer', 'Service/r-reprise spec.type', 'LoadBalancer'],
  ['service.port', 'gateway', 8080, 'Service/r-reprise spec.ports[0].port', 8080],
  ['service.annotations', 'gateway', { a: 'b' }, 'Service/r-reprise metadata.annotations.a', 'b'],
  ['service.sessionAffinity', 'gateway', 'ClientIP', 'Service/r-reprise spec.sessionAffinity', 'ClientIP'],
  ['podDisruptionBudget.enabled', 'gateway', false, 'PodDisruptionBudget', undefined],
  ['podDisruptionBudget.maxUnavailable', 'gateway', '20%', 'PodDisruptionBudget spec.maxUnavailable', '20%'],
  ['ingress.enabled', 'everything', false, 'Ingress', undefined],
  ['ingress.className', 'everything', 'other', 'Ingress spec.ingressClassName', 'other'],
  ['ingress.annotations', 'everything', { a: 'b' }, 'Ingress metadata.annotations.a', 'b'],
  ['ingress.hosts', 'everything', ['a.b'], 'Ingress spec.rules[0].host', 'a.b'],
  ['ingress.tls.existingSecret', 'everything', 's', 'Ingress spec.tls[0].secretName', 's'],
  ['httpRoute.enabled', 'everything', false, 'HTTPRoute', undefined],
  ['httpRoute.annotations', 'everything', { a: 'b' }, 'HTTPRoute metadata.annotations.a', 'b'],
  ['httpRoute.parentRefs', 'everything', [{ name: 'g' }], 'HTTPRoute spec.parentRefs', [{ name: 'g' }]],
  ['httpRoute.hostnames', 'everything', ['a.b'], 'HTTPRoute spec.hostnames', ['a.b']],
  ['autoscaling.enabled', 'everything', false, 'HorizontalPodAutoscaler', undefined],
  ['autoscaling.minReplicas', 'everything', 1, 'HorizontalPodAutoscaler spec.minReplicas', 1],
  ['autoscaling.maxReplicas', 'everything', 99, 'HorizontalPodAutoscaler spec.maxReplicas', 99],
  ['autoscaling.queueDepth', 'everything', 3, 'HorizontalPodAutoscaler spec.metrics[0].pods.target.averageValue', '3'],
  [
    'autoscaling.extraMetrics',
    'everything',
    [{ type: 'Resource' }],
    'HorizontalPodAutoscaler spec.metrics[1].type',
    'Resource',
  ],
  [
    'autoscaling.behavior',
    'everything',
    { scaleDown: { stabilizationWindowSeconds: 9 } },
    'HorizontalPodAutoscaler spec.behavior.scaleDown.stabilizationWindowSeconds',
    9,
  ],
  ['networkPolicy.enabled', 'everything', false, 'NetworkPolicy', undefined],
  ['networkPolicy.apps', 'everything', [peer], 'NetworkPolicy spec.ingress[0].from[0]', peer],
  ['networkPolicy.admin', 'everything', [peer], 'NetworkPolicy spec.ingress[1].from[0]', peer],
  ['networkPolicy.egress', 'everything', [{ to: [peer] }], 'NetworkPolicy spec.egress[0].to[0]', peer],
  ['metrics.podMonitor.enabled', 'everything', false, 'PodMonitor', undefined],
  ['metrics.podMonitor.interval', 'everything', '5s', 'PodMonitor spec.podMetricsEndpoints[0].interval', '5s'],
  ['metrics.podMonitor.labels', 'everything', { release: 'p' }, 'PodMonitor metadata.labels.release', 'p'],
  ['metrics.prometheusRule.enabled', 'everything', false, 'PrometheusRule', undefined],
  ['metrics.prometheusRule.labels', 'everything', { release: 'p' }, 'PrometheusRule metadata.labels.release', 'p'],
  [
    'metrics.prometheusRule.selector',
    'everything',
    'job="j"',
    `${rule}[alert=RepriseDown].expr`,
    'absent(reprise_build_info{job="j"})',
  ],
  [
    'metrics.prometheusRule.thresholds.failOpenRatio',
    'everything',
    0.07,
    `${rule}[alert=RepriseFailsOpen].expr`,
    expect.stringMatching(/ > 0\.07$/),
  ],
  [
    'metrics.prometheusRule.thresholds.hitRatioShare',
    'everything',
    0.07,
    `${rule}[alert=RepriseHitRatioDropped].expr`,
    expect.stringMatching(/< 0\.07\s+\*/),
  ],
  [
    'metrics.prometheusRule.thresholds.queueDepth',
    'everything',
    77,
    `${rule}[alert=RepriseQueueLong].expr`,
    expect.stringMatching(/ > 77$/),
  ],
  [
    'metrics.prometheusRule.thresholds.unreachableRatio',
    'everything',
    0.07,
    `${rule}[alert=RepriseEngineUnreachable].expr`,
    expect.stringMatching(/ > 0\.07$/),
  ],
  ...(
    [
      ['errorRatio', 'RepriseErrors'],
      ['limitedRatio', 'RepriseCallersLimited'],
      ['overheadSeconds', 'RepriseSlow'],
      ['storeFailureRatio', 'RepriseStoreFails'],
      ['storeUnwrittenRatio', 'RepriseStoreNotWritten'],
    ] as const
  ).map(
    ([name, alert]): Row => [
      `metrics.prometheusRule.thresholds.${name}`,
      'everything',
      0.07,
      `${rule}[alert=${alert}].expr`,
      expect.stringMatching(/ > 0\.07$/),
    ],
  ),
  [
    'metrics.prometheusRule.engineReports',
    'everything',
    false,
    `${rule}[alert=RepriseMirrorWithoutReports]`,
    undefined,
  ],
  [
    'metrics.prometheusRule.extraRules',
    'everything',
    [{ alert: 'Mine', expr: 'up' }],
    `${rule}[alert=Mine].expr`,
    'up',
  ],
  ['metrics.dashboard.enabled', 'everything', false, 'ConfigMap/r-reprise-dashboard', undefined],
  [
    'metrics.dashboard.labels',
    'everything',
    { board: '1' },
    'ConfigMap/r-reprise-dashboard metadata.labels.board',
    '1',
  ],
  [
    'metrics.dashboard.annotations',
    'everything',
    { folder: 'ai' },
    'ConfigMap/r-reprise-dashboard metadata.annotations.folder',
    'ai',
  ],
  ['test.model', 'gateway', 'm', 'Pod spec.containers[0].env[name=MODEL].value', 'm'],
  [
    'test.apiKey.existingSecret',
    'gateway',
    's',
    'Pod spec.containers[0].env[name=API_KEY]',
    variableOf('s', 'api-key'),
  ],
  ['test.apiKey.key', 'everything', key, 'Pod spec.containers[0].env[name=API_KEY]', variableOf('reprise-test', key)],
]

/** Values that take effect only together with another value. */
export const pairs: readonly (readonly [...Row, beside: Values])[] = [
  ['store.mooncake.image.repository', 'mooncake', 'n', `${master}image`, 'n:1', ofMaster],
  ['store.mooncake.image.tag', 'mooncake', '2', `${master}image`, 'm:2', ofMaster],
  ['store.mooncake.image.digest', 'mooncake', digest, `${master}image`, `m@${digest}`, ofMaster],
  [
    'store.existingClaim',
    'vllm',
    'segments',
    `${pod}volumes[name=reprise-store].persistentVolumeClaim.claimName`,
    'segments',
    reuse,
  ],
  ['store.existingClaim', 'vllm', 'c', `${engine}volumeMounts[name=reprise-store].mountPath`, '/segments', reuse],
  [
    'store.existingClaim',
    'vllm',
    'c',
    `${engine}args[4]`,
    expect.stringContaining('"remote":"file:///segments/reprise"'),
    reuse,
  ],
  [
    'store.existingClaim',
    'sglang',
    'c',
    `${engine}env[name=REPRISE_REUSE].value`,
    '{"ratio":0.2,"remote":"file:///segments/reprise"}',
    reuse,
  ],
  [
    'secrets.tls.clientCa',
    'everything',
    true,
    `${config} tls.client_ca`,
    '/etc/reprise/tls/ca.crt',
    { ingress: { enabled: false }, httpRoute: { enabled: false } },
  ],
  [
    'secrets.engineApiKey.key',
    'gateway',
    key,
    volumeOf('engine-api-key'),
    secretOf('s', key),
    { secrets: { engineApiKey: { existingSecret: 's' } } },
  ],
  [
    'networkPolicy.engines.podSelector',
    'gateway',
    peer.podSelector,
    'NetworkPolicy/r-reprise-engines spec.podSelector',
    peer.podSelector,
    { networkPolicy: { enabled: true } },
  ],
  [
    'networkPolicy.engines.port',
    'gateway',
    7,
    'NetworkPolicy/r-reprise-engines spec.ingress[0].ports[0].port',
    7,
    { networkPolicy: { enabled: true, engines: { podSelector: peer.podSelector } } },
  ],
  [
    'metrics.serviceMonitor.enabled',
    'vllm',
    true,
    'Service/r-reprise-admin spec.clusterIP',
    'None',
    { secrets: { adminToken: { existingSecret: 's' } } },
  ],
  [
    'metrics.serviceMonitor.interval',
    'vllm',
    '5s',
    'ServiceMonitor spec.endpoints[0].interval',
    '5s',
    { secrets: { adminToken: { existingSecret: 's' } }, metrics: { serviceMonitor: { enabled: true } } },
  ],
  [
    'metrics.serviceMonitor.labels',
    'vllm',
    { a: 'b' },
    'ServiceMonitor metadata.labels.a',
    'b',
    { secrets: { adminToken: { existingSecret: 's' } }, metrics: { serviceMonitor: { enabled: true } } },
  ],
]
