{{/* the configuration file: `config`, and the settings of the chart itself */}}
{{- define "reprise.config" -}}
{{- include "reprise.contradictions" . -}}
{{- $values := .Values -}}
{{- $config := deepCopy $values.config -}}
{{- $_ := set $config "listen" (include "reprise.hostPort" (dict "host" $values.listenHost "port" $values.ports.data)) -}}
{{- $_ := set $config "admin" (dict "listen" (include "reprise.hostPort" (dict "host" $values.listenHost "port" $values.ports.admin))) -}}
{{- if eq $values.mode "gateway" -}}
{{- if not $values.engines -}}
{{- fail "engines: name the engines behind reprise, such as [{url: \"http://vllm-0.vllm:8000\", kind: vllm, id: vllm-0}], or choose mode: sidecar" -}}
{{- end -}}
{{- $_ := set $config "engines" $values.engines -}}
{{- else -}}
{{- $url := printf "http://127.0.0.1:%s" (include "reprise.enginePort" .) -}}
{{- $_ := set $config "engines" (list (dict "url" $url "kind" $values.engine.kind "id" $values.engine.id)) -}}
{{- end -}}
{{- if $values.secrets.keys.existingSecret -}}
{{- $_ := set $config "keys" (merge (dict "file" "/etc/reprise/keys/keys.yaml") (default (dict) $config.keys)) -}}
{{- end -}}
{{- with $values.secrets.tls -}}
{{- if .existingSecret -}}
{{- $tls := dict "cert" "/etc/reprise/tls/tls.crt" "key" "/etc/reprise/tls/tls.key" -}}
{{- if .clientCa -}}{{- $_ := set $tls "client_ca" "/etc/reprise/tls/ca.crt" -}}{{- end -}}
{{- $_ := set $config "tls" $tls -}}
{{- end -}}
{{- end -}}
{{- with $values.redis -}}
{{- if and .url .existingSecret -}}{{- fail "redis: give url or existingSecret, not both" -}}{{- end -}}
{{- $redis := default (dict) $config.redis -}}
{{- if .url -}}{{- $_ := set $redis "url" .url -}}{{- end -}}
{{- if .tls.existingSecret -}}
{{- $tls := merge (dict "ca" "/etc/reprise/redis-tls/ca.crt") (default (dict) $redis.tls) -}}
{{- if .tls.clientCertificate -}}
{{- $_ := set $tls "cert" "/etc/reprise/redis-tls/tls.crt" -}}
{{- $_ := set $tls "key" "/etc/reprise/redis-tls/tls.key" -}}
{{- end -}}
{{- $_ := set $redis "tls" $tls -}}
{{- end -}}
{{- if $redis -}}{{- $_ := set $config "redis" $redis -}}{{- end -}}
{{- end -}}
{{ toYaml $config }}
{{- end }}

{{/* the secrets that are settings, by variable: reprise reads their files again when they change */}}
{{- define "reprise.secretFiles" -}}
{{- with .Values.secrets }}
REPRISE_ADMIN_TOKEN: {{ toJson .adminToken }}
REPRISE_ENGINE_API_KEY: {{ toJson .engineApiKey }}
REPRISE_TENANTS_SALT_SECRET: {{ toJson .saltSecret }}
{{- end }}
REPRISE_REDIS_URL: {{ toJson (pick .Values.redis "existingSecret" "key") }}
{{- end }}

{{- define "reprise.secretFolder" -}}
{{ . | trimPrefix "REPRISE_" | lower | replace "_" "-" }}
{{- end }}

{{- define "reprise.env" -}}
- name: REPRISE_CONFIG
  value: /etc/reprise/config/reprise.yaml
{{- range $name, $secret := fromYaml (include "reprise.secretFiles" .) }}
{{- if $secret.existingSecret }}
- name: {{ $name }}_FILE
  value: /etc/reprise/secrets/{{ include "reprise.secretFolder" $name }}/{{ $secret.key }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* the volumes of reprise's container */}}
{{- define "reprise.volumes" -}}
{{- $values := .Values -}}
- name: reprise-config
  configMap: { name: {{ include "reprise.fullname" . }} }
{{- range $name, $secret := fromYaml (include "reprise.secretFiles" .) }}
{{- if $secret.existingSecret }}
- name: reprise-{{ include "reprise.secretFolder" $name }}
  secret: { secretName: {{ $secret.existingSecret }}, items: [{ key: {{ $secret.key }}, path: {{ $secret.key }} }] }
{{- end }}
{{- end }}
{{- with $values.secrets.keys }}{{ if .existingSecret }}
- name: reprise-keys
  secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: keys.yaml }] }
{{- end }}{{ end }}
{{- with $values.secrets.tls.existingSecret }}
- name: reprise-tls
  secret: { secretName: {{ . }} }
{{- end }}
{{- with $values.redis.tls.existingSecret }}
- name: reprise-redis-tls
  secret: { secretName: {{ . }} }
{{- end }}
{{- end }}

{{/* folders, not files: the kubelet updates only folders when a ConfigMap or Secret changes */}}
{{- define "reprise.volumeMounts" -}}
{{- $values := .Values -}}
- { name: reprise-config, mountPath: /etc/reprise/config, readOnly: true }
{{- range $name, $secret := fromYaml (include "reprise.secretFiles" .) }}
{{- if $secret.existingSecret }}
{{- $folder := include "reprise.secretFolder" $name }}
- { name: reprise-{{ $folder }}, mountPath: /etc/reprise/secrets/{{ $folder }}, readOnly: true }
{{- end }}
{{- end }}
{{- if $values.secrets.keys.existingSecret }}
- { name: reprise-keys, mountPath: /etc/reprise/keys, readOnly: true }
{{- end }}
{{- if $values.secrets.tls.existingSecret }}
- { name: reprise-tls, mountPath: /etc/reprise/tls, readOnly: true }
{{- end }}
{{- if $values.redis.tls.existingSecret }}
- { name: reprise-redis-tls, mountPath: /etc/reprise/redis-tls, readOnly: true }
{{- end }}
{{- with $values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
