{{- define "reprise.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "reprise.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "reprise.labels" -}}
{{ include "reprise.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* name, namespace, labels and annotations of an object; (dict "root" $ "suffix" "-admin" "labels" … "annotations" …) */}}
{{- define "reprise.metadata" -}}
{{- $labels := merge (dict) (default (dict) .labels) (fromYaml (include "reprise.labels" .root)) -}}
{{- $annotations := merge (dict) (default (dict) .annotations) .root.Values.commonAnnotations -}}
name: {{ include "reprise.fullname" .root }}{{ .suffix }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "reprise.serviceAccountName" -}}
{{- if and .Values.serviceAccount.create (ne .Values.mode "library") -}}
{{- default (include "reprise.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{/* as JSON: the namespaces of the Services whose EndpointSlices are watched */}}
{{- define "reprise.watchedNamespaces" -}}
{{- $namespaces := list -}}
{{- if eq .Values.mode "gateway" -}}
{{- range .Values.engines -}}
{{- if eq (default "" .discover) "endpoints" -}}
{{- $labels := splitList "." (regexReplaceAll "[:/].*$" (regexReplaceAll "^https?://" .url "") "") -}}
{{- $namespaces = append $namespaces (gt (len $labels) 1 | ternary (index (append $labels "") 1) $.Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- uniq $namespaces | toJson -}}
{{- end }}

{{/* (dict "image" .Values.image "tag" .Chart.AppVersion) */}}
{{- define "reprise.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ required (printf "image %s: give a tag or a digest" .image.repository) (default .tag .image.tag) }}
{{- end -}}
{{- end }}

{{- define "reprise.enginePort" -}}
{{- $engine := .Values.engine -}}
{{- if $engine.port -}}{{ int $engine.port }}{{- else if eq $engine.kind "sglang" -}}30000{{- else -}}8000{{- end -}}
{{- end }}

{{/* seconds that reprise may take to end after it is told to */}}
{{- define "reprise.drainSeconds" -}}
{{- add (int (dig "drain_delay_seconds" 0 .Values.config)) (int (dig "drain_seconds" 30 .Values.config)) -}}
{{- end }}

{{/* seconds that a pod needs to end by itself; fewer would cut off requests */}}
{{- define "reprise.gracePeriod" -}}
{{- $least := add (int (include "reprise.drainSeconds" .)) 5 -}}
{{- if ne .Values.mode "gateway" -}}{{- $least = add $least (int .Values.engine.stopSeconds) 5 -}}{{- end -}}
{{- $given := int .Values.terminationGracePeriodSeconds -}}
{{- if and $given (lt $given (int $least)) -}}
{{- fail (printf "terminationGracePeriodSeconds is %d: config.drain_delay_seconds, config.drain_seconds and engine.stopSeconds add up to %d; write at least that, or 0 to have it computed" $given $least) -}}
{{- end -}}
{{- default $least $given -}}
{{- end }}

{{- define "reprise.hostPort" -}}
{{- if contains ":" .host -}}[{{ .host }}]{{- else -}}{{ .host }}{{- end -}}:{{ int .port }}
{{- end }}

{{/* the ports of networkPolicy.engines: the one given there, and those of `engines` */}}
{{- define "reprise.enginesPorts" -}}
{{- $ports := list .Values.networkPolicy.engines.port -}}
{{- range .Values.engines -}}
{{- range compact (list .url .events .replay) -}}
{{- $url := urlParse . -}}
{{- $given := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $ports = append $ports (default (ternary 443 80 (eq $url.scheme "https")) $given) -}}
{{- end -}}
{{- end -}}
{{- $sorted := list -}}
{{- range $ports -}}{{- $sorted = append $sorted (int . | printf "%05d") -}}{{- end -}}
{{- range $sorted | uniq | sortAlpha }}
- { port: {{ atoi . }}, protocol: TCP }
{{- end }}
{{- end }}

{{/* a quantity in bytes; empty if it cannot be read */}}
{{- define "reprise.bytes" -}}
{{- with include "reprise.thousandths" . -}}{{- div (int64 .) 1000 -}}{{- end -}}
{{- end }}

{{/* a quantity of memory or CPU in thousandths; empty unless it is written like 512Mi, 1.5G, 500m or 2 */}}
{{- define "reprise.thousandths" -}}
{{- $units := dict "m" 0.001 "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $quantity := toJson . | trimAll "\"" -}}
{{- $unit := get $units (regexReplaceAll "^[0-9.]+" $quantity "") -}}
{{- if $unit -}}{{- mulf (regexFind "^[0-9.]+" $quantity | float64) $unit 1000 | int64 -}}{{- end -}}
{{- end }}
