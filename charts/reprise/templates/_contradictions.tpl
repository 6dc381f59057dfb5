{{/*
Fails if values contradict each other, so that reprise would exit at the start or could not be reached. The message says
what to write.
*/}}
{{- define "reprise.contradictions" -}}
{{- $values := .Values -}}
{{- include "reprise.checkLimits" (list "resources" $values.resources) -}}
{{- if ne $values.mode "gateway" -}}
{{- include "reprise.checkLimits" (list "engine.resources" $values.engine.resources) -}}
{{- include "reprise.checkLimits" (list "plugin.resources" $values.plugin.resources) -}}
{{- end -}}
{{- $data := int $values.ports.data -}}
{{- $admin := int $values.ports.admin -}}
{{- if eq $data $admin -}}
{{- fail (printf "ports.data and ports.admin are both %d: give each a port of its own" $data) -}}
{{- end -}}
{{- if regexMatch "^(127\\.|::1$|localhost$)" $values.listenHost -}}
{{- fail (printf "listenHost is %s, which probes and applications cannot reach: write 0.0.0.0, or \"::\" if addresses are IPv6" $values.listenHost) -}}
{{- end -}}
{{- if and (eq (dig "tenants" "from" "" $values.config) "header") (not (dig "tenants" "trusted_peers" "" $values.config)) -}}
{{- fail "config.tenants.from is header: list the addresses of the gateways that name tenants in config.tenants.trusted_peers, such as [10.0.0.0/8]" -}}
{{- end -}}
{{- $memory := dig "limits" "memory" "" $values.resources -}}
{{- $body := dig "limits" "body_bytes" 67108864 $values.config | int64 -}}
{{- $bytes := include "reprise.bytes" $memory | int64 -}}
{{- if and $bytes (lt $bytes $body) -}}
{{- fail (printf "resources.limits.memory is %s, and one body alone may take %dMi: raise the limit, or lower config.limits.body_bytes" (toJson $memory | trimAll "\"") (div $body 1048576)) -}}
{{- end -}}
{{- if ne $values.mode "gateway" -}}
{{- if $values.engines -}}
{{- fail (printf "engines are those behind a gateway, and mode is %s, whose engine is the one in the pod: leave engines out, or choose mode: gateway" $values.mode) -}}
{{- end -}}
{{- $engine := int (include "reprise.enginePort" .) -}}
{{- if has $engine (list $data $admin) -}}
{{- fail (printf "engine.port is %d, and so is one of ports: containers of a pod share its ports, so give each its own" $engine) -}}
{{- end -}}
{{- if and $values.plugin.pages (ne $values.engine.kind "vllm") -}}
{{- fail (printf "plugin.pages is for vLLM, and engine.kind is %s: leave it out" $values.engine.kind) -}}
{{- end -}}
{{- if and (kindIs "map" $values.plugin.reuse) (eq $values.engine.kind "sglang") (hasKey $values.plugin.reuse "rows_per_step") -}}
{{- fail "plugin.reuse.rows_per_step is for vLLM, and engine.kind is sglang, where a load takes one step: leave it out" -}}
{{- end -}}
{{- if and $values.plugin.kvTransferConfig (ne $values.engine.kind "vllm") -}}
{{- fail (printf "plugin.kvTransferConfig is for vLLM, and engine.kind is %s: leave it out" $values.engine.kind) -}}
{{- end -}}
{{- range $name := list "reuse" "pages" "eviction" -}}
{{- if and (get $values.plugin $name) $values.plugin.kvTransferConfig -}}
{{- fail (printf "plugin.%s has no effect beside plugin.kvTransferConfig: write it there, in our connector's kv_connector_extra_config" $name) -}}
{{- end -}}
{{- end -}}
{{- range $variable := $values.engine.extraEnv -}}
{{- if and $values.plugin.enabled (eq $variable.name "PYTHONPATH") -}}
{{- fail "engine.extraEnv: PYTHONPATH leads to the plugin: write yours as plugin.extraPythonPath, which is appended" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $values.networkPolicy -}}
{{- if and .enabled (not .admin) (or $values.metrics.podMonitor.enabled $values.metrics.serviceMonitor.enabled) -}}
{{- fail "networkPolicy.admin is empty, so Prometheus may not reach the admin port: name its pods, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]" -}}
{{- end -}}
{{- end -}}
{{- include "reprise.checkExposure" . -}}
{{- include "reprise.checkStore" . -}}
{{- range $name := list "reuse" "pages" "eviction" "kvTransferConfig" -}}
{{- if get $values.plugin $name -}}
{{- if eq $values.mode "gateway" -}}
{{- fail (printf "plugin.%s is for an engine that the chart starts, and mode gateway starts none: give it to your engines" $name) -}}
{{- end -}}
{{- if not $values.plugin.enabled -}}
{{- fail (printf "plugin.%s has no effect without the plugin: write plugin.enabled: true, or leave it out" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- include "reprise.checkEngines" . -}}
{{- $names := list -}}
{{- range $values.config.aliases -}}
{{- if has .name $names -}}{{- fail (printf "config.aliases: two are called %s: list all its models in one" .name) -}}{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- with $values.autoscaling -}}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) -}}
{{- fail (printf "autoscaling.minReplicas is %d, more than autoscaling.maxReplicas, %d: raise the maximum, or lower the minimum" (int .minReplicas) (int .maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- with $values.secrets.tls -}}
{{- if and .clientCa (not .existingSecret) -}}
{{- fail "secrets.tls.clientCa: name the Secret with ca.crt, tls.crt and tls.key as secrets.tls.existingSecret" -}}
{{- end -}}
{{- end -}}
{{- with $values.redis -}}
{{- if and .tls.clientCertificate (not .tls.existingSecret) -}}
{{- fail "redis.tls.clientCertificate: name the Secret with tls.crt and tls.key as redis.tls.existingSecret" -}}
{{- end -}}
{{- if and .tls.existingSecret .url (not (hasPrefix "rediss" .url)) -}}
{{- fail "redis.tls is for a Redis behind rediss://: write it in redis.url" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Fails if reprise would refuse `engines`, or could not find them. */}}
{{- define "reprise.checkEngines" -}}
{{- $ids := list -}}
{{- $urls := list -}}
{{- range .Values.engines -}}
{{- if .id -}}
{{- if has .id $ids -}}{{- fail (printf "engines: two are called %s: give each its own id" .id) -}}{{- end -}}
{{- $ids = append $ids .id -}}
{{- end -}}
{{- $name := default .url .id -}}
{{- $origin := regexFind "^[^/]*//[^/]*" .url | lower -}}
{{- if and (eq (default "" .discover) "srv") (regexMatch ":[0-9]+$" $origin) -}}
{{- fail (printf "engines: the url of %s has a port, which SRV records name: leave it out" $name) -}}
{{- end -}}
{{- $url := print (regexReplaceAll "^(http://.*):80$|^(https://.*):443$" $origin "${1}${2}") (regexReplaceAll "^[^/]*//[^/]*" .url "" | default "/") -}}
{{- if has $url $urls -}}{{- fail (printf "engines: %s is named twice: name each engine once" .url) -}}{{- end -}}
{{- $urls = append $urls $url -}}
{{- if and .replay (not .events) -}}
{{- fail (printf "engines: %s has replay and no events: write the address where it publishes them as events" $name) -}}
{{- end -}}
{{- if and .events (not (has .kind (list "vllm" "sglang"))) -}}
{{- fail (printf "engines: %s has events: write kind: vllm or kind: sglang" $name) -}}
{{- end -}}
{{- if and .tls (not (hasPrefix "https:" .url)) -}}
{{- fail (printf "engines: %s has tls: write its url as https://" $name) -}}
{{- end -}}
{{- end -}}
{{- if and (include "reprise.watchedNamespaces" . | fromJsonArray) (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- fail "engines: discover: endpoints needs rights, which serviceAccount.create: false would give to the ServiceAccount default, and so to other pods: name one of reprise's own in serviceAccount.name, or leave serviceAccount.create on" -}}
{{- end -}}
{{- end }}

{{/* Fails if `ingress` or `httpRoute` would lead nowhere. */}}
{{- define "reprise.checkExposure" -}}
{{- $values := .Values -}}
{{- range $name, $needs := dict "ingress" "hosts" "httpRoute" "parentRefs" -}}
{{- $own := get $values $name -}}
{{- if $own.enabled -}}
{{- if eq $values.mode "library" -}}
{{- fail (printf "%s needs the Service, which mode library does not make: write your own in your chart" $name) -}}
{{- end -}}
{{- if not (get $own $needs) -}}
{{- fail (printf "%s.%s is empty, so that nothing would be routed here: name them, such as %s" $name $needs (ternary "[llm.example.com]" "[{name: gateway, namespace: infra}]" (eq $name "ingress"))) -}}
{{- end -}}
{{- if and $values.networkPolicy.enabled (not $values.networkPolicy.apps) -}}
{{- fail (printf "networkPolicy.apps is empty, so only pods of this namespace may send requests, and what serves %s may not: name its pods, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}}]" $name) -}}
{{- end -}}
{{- if $values.secrets.tls.clientCa -}}
{{- fail (printf "secrets.tls.clientCa asks each client for a certificate, and what serves %s has none: leave it out, or switch %s off" $name $name) -}}
{{- end -}}
{{- if and $values.secrets.tls.existingSecret (not $own.annotations) -}}
{{- $say := dict "ingress" "such as nginx.ingress.kubernetes.io/backend-protocol: HTTPS, or leave secrets.tls out and use ingress.tls" "httpRoute" "by naming there the BackendTLSPolicy that you wrote, such as example.com/backend-tls-policy: reprise, or leave secrets.tls out and use the TLS of the Gateway's listener" -}}
{{- fail (printf "secrets.tls makes the data port HTTPS, and what serves %s speaks HTTP to it: say so in %s.annotations, %s" $name $name (get $say $name)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Kubernetes refuses a pod with a limit below its request. Takes a list: the path of the resources, and the resources. */}}
{{- define "reprise.checkLimits" -}}
{{- $where := first . -}}
{{- $resources := last . -}}
{{- range $name := list "cpu" "memory" -}}
{{- $limit := dig "limits" $name "" $resources -}}
{{- $request := dig "requests" $name "" $resources -}}
{{- $most := include "reprise.thousandths" $limit | int64 -}}
{{- if and $most (lt $most (include "reprise.thousandths" $request | int64)) -}}
{{- fail (printf "%s.limits.%s is %s, less than %s.requests.%s, %s: raise the limit, or lower the request" $where $name (toJson $limit | trimAll "\"") $where $name (toJson $request | trimAll "\"")) -}}
{{- end -}}
{{- end -}}
{{- end }}
