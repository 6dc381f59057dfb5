{{/* reprise itself, as a container of any kind */}}
{{- define "reprise.container" -}}
{{- $values := .Values -}}
name: reprise
image: {{ include "reprise.image" (dict "image" $values.image "tag" .Chart.AppVersion) }}
imagePullPolicy: {{ $values.image.pullPolicy }}
args:
  - serve
  {{- with $values.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
env:
  {{- include "reprise.env" . | nindent 2 }}
{{- with $values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
ports:
  - { name: http, containerPort: {{ int $values.ports.data }} }
  - { name: admin, containerPort: {{ int $values.ports.admin }} }
{{- with $values.probes }}
startupProbe:
  httpGet: { path: /healthz, port: admin }
  periodSeconds: 1
  timeoutSeconds: {{ int .timeoutSeconds }}
  failureThreshold: {{ int .startupSeconds }}
livenessProbe:
  httpGet: { path: /healthz, port: admin }
  periodSeconds: {{ int .periodSeconds }}
  timeoutSeconds: {{ int .timeoutSeconds }}
  failureThreshold: {{ int .restartAfter }}
readinessProbe:
  httpGet: { path: /readyz, port: admin }
  periodSeconds: {{ int .periodSeconds }}
  timeoutSeconds: {{ int .timeoutSeconds }}
  failureThreshold: {{ int .unreadyAfter }}
{{- end }}
resources:
  {{- toYaml $values.resources | nindent 2 }}
securityContext:
  {{- toYaml $values.securityContext | nindent 2 }}
volumeMounts:
  {{- include "reprise.volumeMounts" . | nindent 2 }}
{{- end }}

{{/* the pod's settings, without its containers */}}
{{- define "reprise.podSettings" -}}
{{- $values := .Values -}}
serviceAccountName: {{ include "reprise.serviceAccountName" . }}
automountServiceAccountToken: {{ include "reprise.watchedNamespaces" . | fromJsonArray | empty | not }}
# the variables of a Service called reprise would look like settings
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "reprise.gracePeriod" . }}
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- if $values.topologySpread.enabled }}
topologySpreadConstraints:
  {{- if $values.topologySpread.constraints }}
  {{- toYaml $values.topologySpread.constraints | nindent 2 }}
  {{- else }}
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "reprise.selectorLabels" $ | nindent 8 }}
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{/* the pod template's metadata */}}
{{- define "reprise.podMetadata" -}}
{{- $annotations := merge (dict) .Values.podAnnotations .Values.commonAnnotations (fromYaml (include "reprise.podAnnotations" .)) -}}
labels:
  {{- toYaml (merge (dict) .Values.podLabels (fromYaml (include "reprise.labels" .))) | nindent 2 }}
annotations:
  {{- toYaml $annotations | nindent 2 }}
{{- end }}

{{/* the checksum changes the pod template with the configuration; kubectl reads logs of the default container */}}
{{- define "reprise.podAnnotations" -}}
kubectl.kubernetes.io/default-container: reprise
{{- if .Values.restartOnConfigChange }}
checksum/config: {{ include "reprise.config" . | sha256sum }}
{{- end }}
{{- end }}
