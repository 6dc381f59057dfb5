{{/* the engine's container of mode: sidecar */}}
{{- define "reprise.engine" -}}
{{- $engine := .Values.engine -}}
name: engine
image: {{ include "reprise.engineImage" . }}
imagePullPolicy: {{ $engine.image.pullPolicy }}
command:
  {{- if $engine.command }}
  {{- toYaml $engine.command | nindent 2 }}
  {{- else if eq $engine.kind "sglang" }}
  - {{ $engine.python }}
  - -m
  - sglang.launch_server
  {{- else }}
  - vllm
  - serve
  {{- end }}
{{- if or (not $engine.command) $engine.extraArgs }}
args:
  {{- if not $engine.command }}
  {{- include "reprise.engineModel" . | nindent 2 }}
  {{- include "reprise.sidecar.engineArgs" . | nindent 2 }}
  {{- end }}
  {{- with $engine.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
env:
  # libraries ask for these if the user has no entry in /etc/passwd
  - { name: HOME, value: /home/engine }
  - { name: USER, value: engine }
  {{- include "reprise.sidecar.engineEnv" . | nindent 2 }}
  {{- with $engine.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $engine.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $engine.probes }}
startupProbe:
  {{- include "reprise.engineProbe" $ | nindent 2 }}
  periodSeconds: 5
  timeoutSeconds: {{ int .timeoutSeconds }}
  failureThreshold: {{ div (add (int .startupSeconds) 4) 5 }}
livenessProbe:
  {{- include "reprise.engineProbe" $ | nindent 2 }}
  periodSeconds: {{ int .periodSeconds }}
  timeoutSeconds: {{ int .timeoutSeconds }}
  failureThreshold: {{ int .restartAfter }}
readinessProbe:
  {{- include "reprise.engineProbe" $ | nindent 2 }}
  periodSeconds: {{ int .periodSeconds }}
  timeoutSeconds: {{ int .timeoutSeconds }}
  failureThreshold: {{ int .unreadyAfter }}
{{- end }}
lifecycle:
  {{- include "reprise.sidecar.engineLifecycle" . | nindent 2 }}
resources:
  {{- toYaml $engine.resources | nindent 2 }}
securityContext:
  {{- toYaml $engine.securityContext | nindent 2 }}
volumeMounts:
  - { name: engine-home, mountPath: /home/engine }
  - { name: engine-tmp, mountPath: /tmp }
  - { name: engine-shm, mountPath: /dev/shm }
  {{- include "reprise.sidecar.engineVolumeMounts" . | nindent 2 }}
  {{- with $engine.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "reprise.engineImage" -}}
{{- $image := .Values.engine.image -}}
{{- $_ := required "engine.image.repository: name the image of the engine, such as vllm/vllm-openai, and its tag" $image.repository -}}
{{- include "reprise.image" (dict "image" $image "tag" "") -}}
{{- end }}

{{- define "reprise.engineModel" -}}
{{- $engine := .Values.engine -}}
{{- $model := required "engine.model: name the model that the engine serves" $engine.model -}}
{{- if eq $engine.kind "sglang" }}
- --model-path={{ $model }}
{{- else }}
- {{ $model | quote }}
{{- end }}
{{- with $engine.servedModelName }}
- --served-model-name={{ . }}
{{- end }}
{{- end }}

{{/* runs in the container, because the kubelet cannot reach the pod's loopback */}}
{{- define "reprise.engineProbe" -}}
exec:
  command:
    - {{ .Values.engine.python }}
    - -c
    - 'from urllib.request import urlopen; urlopen("http://127.0.0.1:{{ include "reprise.enginePort" . }}/health", timeout={{ int .Values.engine.probes.timeoutSeconds }})'
{{- end }}

{{- define "reprise.engineVolumes" -}}
{{- $engine := .Values.engine -}}
- name: engine-home
  {{- if $engine.home.existingClaim }}
  persistentVolumeClaim: { claimName: {{ $engine.home.existingClaim }} }
  {{- else }}
  emptyDir: { sizeLimit: {{ $engine.home.sizeLimit }} }
  {{- end }}
- name: engine-tmp
  emptyDir: {}
- name: engine-shm
  emptyDir: { medium: Memory, sizeLimit: {{ $engine.shmSize }} }
{{- end }}
