{{/* where the plugins of all pods share KV, as the plugin's setting `remote`; empty: nowhere */}}
{{- define "reprise.storeAddress" -}}
{{- $store := .Values.store -}}
{{- if $store.existingClaim -}}
{{- /* a folder of its own, which the plugin makes for its user alone */ -}}
file:///segments/reprise
{{- else if $store.mooncake.enabled -}}
mooncake://{{ include "reprise.fullname" . }}-store.{{ .Release.Namespace }}:50051?segment_bytes={{ include "reprise.bytes" $store.mooncake.segmentSize }}
{{- range $name, $value := $store.mooncake.options }}&{{ $name }}={{ (kindIs "string" $value | ternary $value (toJson $value)) | urlquery }}{{ end }}
{{- else -}}
{{- dig "remote" "" (default (dict) .Values.plugin.reuse) -}}
{{- end -}}
{{- end }}

{{/* `plugin.reuse` with the store's address, as JSON; empty: off */}}
{{- define "reprise.reuse" -}}
{{- with .Values.plugin.reuse -}}
{{- $remote := include "reprise.storeAddress" $ -}}
{{- ternary (merge (dict "remote" $remote) .) . (ne $remote "") | toJson -}}
{{- end -}}
{{- end }}

{{/* Fails if the plugin would not use the store, or could not. */}}
{{- define "reprise.checkStore" -}}
{{- $values := .Values -}}
{{- $store := $values.store -}}
{{- $isClaim := not (empty $store.existingClaim) -}}
{{- if or $isClaim $store.mooncake.enabled -}}
{{- $name := ternary "store.existingClaim" "store.mooncake" $isClaim -}}
{{- if and $isClaim $store.mooncake.enabled -}}
{{- fail "store: give existingClaim or mooncake, not both" -}}
{{- end -}}
{{- if eq $values.mode "gateway" -}}
{{- fail (printf "%s is for engines that the chart starts, and mode is gateway: write the store's address as reuse.remote into the settings of your engines' plugins" $name) -}}
{{- end -}}
{{- if and $store.mooncake.enabled (eq $values.mode "library") -}}
{{- fail "store.mooncake makes a Deployment, which mode library does not: run Mooncake's master, and write plugin.reuse.remote, such as mooncake://mooncake-master:50051" -}}
{{- end -}}
{{- if not $values.plugin.reuse -}}
{{- fail (printf "%s is for reuse at any position, which is off: write plugin.reuse, such as { ratio: 0.15 }" $name) -}}
{{- end -}}
{{- if hasKey $values.plugin.reuse "remote" -}}
{{- fail (printf "%s and plugin.reuse.remote are two stores: leave one out" $name) -}}
{{- end -}}
{{- if and $store.mooncake.enabled (not (include "reprise.bytes" $store.mooncake.segmentSize | int64)) -}}
{{- fail (printf "store.mooncake.segmentSize is %s: write it like 4Gi" (toString $store.mooncake.segmentSize)) -}}
{{- end -}}
{{- end -}}
{{- if and $values.plugin.reuse (ne $values.mode "gateway") -}}
{{- if not $values.plugin.enabled -}}
{{- fail "plugin.reuse needs the plugin, and plugin.enabled is false: leave one out" -}}
{{- end -}}
{{- $address := include "reprise.storeAddress" . -}}
{{- $path := trimPrefix "file://" $address -}}
{{- if and (eq $values.mode "sidecar") (not $isClaim) (ne $path $address) -}}
{{- $isMounted := and $values.engine.home.existingClaim (hasPrefix "/home/engine/" $path) -}}
{{- range $values.engine.extraVolumeMounts -}}
{{- $isMounted = or $isMounted (hasPrefix (trimSuffix "/" .mountPath | printf "%s/") (printf "%s/" $path)) -}}
{{- end -}}
{{- if not $isMounted -}}
{{- fail (printf "plugin.reuse.remote is %s, where engine.extraVolumeMounts mounts nothing, so that each pod would have a folder of its own: name a claim that all mount as store.existingClaim" $address) -}}
{{- end -}}
{{- end -}}
{{- $least := dig "host_bytes" 1073741824 $values.plugin.reuse | int64 -}}
{{- if $address -}}{{- $least = add $least 536870912 -}}{{- end -}}
{{- if $store.mooncake.enabled -}}
{{- $buffer := dig "buffer_bytes" 268435456 $store.mooncake.options | int64 -}}
{{- $least = add $least $buffer (include "reprise.bytes" $store.mooncake.segmentSize | int64) -}}
{{- end -}}
{{- $memory := dig "limits" "memory" "" $values.engine.resources -}}
{{- $most := include "reprise.bytes" $memory | int64 -}}
{{- if and $most (lt $most $least) -}}
{{- fail (printf "engine.resources.limits.memory is %s, and reuse alone takes %dMi (host_bytes, what waits for the store, segmentSize) of each rank: raise the limit" (toJson $memory | trimAll "\"") (div $least 1048576)) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* peers: the pods whose engines share the store */}}
{{- define "reprise.storePeers" -}}
- podSelector:
    matchLabels:
      {{- include "reprise.selectorLabels" . | nindent 6 }}
{{- end }}

{{/* labels of the master's pod, which the Services of reprise must not select */}}
{{- define "reprise.storeLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}-store
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
