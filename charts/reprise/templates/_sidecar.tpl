{{/*
Templates that add reprise to a pod with an engine. Your own chart, which depends on this one (mode: library), includes
them with this chart's context, `.Subcharts.reprise`:

  spec:
    {{- include "reprise.sidecar.podSpec" .Subcharts.reprise | nindent 4 }}     service account, grace period, …; optional
    initContainers:
      {{- include "reprise.sidecar.initContainers" .Subcharts.reprise | nindent 6 }}
    containers:
      - name: engine
        args:
          {{- include "reprise.sidecar.engineArgs" .Subcharts.reprise | nindent 10 }}
        env:
          {{- include "reprise.sidecar.engineEnv" .Subcharts.reprise | nindent 10 }}
        lifecycle:
          {{- include "reprise.sidecar.engineLifecycle" .Subcharts.reprise | nindent 10 }}
        volumeMounts:
          {{- include "reprise.sidecar.engineVolumeMounts" .Subcharts.reprise | nindent 10 }}
    volumes:
      {{- include "reprise.sidecar.volumes" .Subcharts.reprise | nindent 6 }}

How a pod ends. Kubernetes runs the stop hooks of all containers at once, sends SIGTERM to the engine when its own hook is
over, and to a native sidecar only when all other containers have ended. So reprise's hook tells it to drain, and the
engine's hook waits until reprise has ended: no request loses its engine.
*/}}

{{- define "reprise.sidecar.podSpec" -}}
{{ include "reprise.podSettings" . }}
{{- end }}

{{/* the container that installs the plugin, then that of reprise */}}
{{- define "reprise.sidecar.initContainers" -}}
{{- if .Values.plugin.enabled }}
{{ include "reprise.sidecar.pluginContainer" . }}
{{- end }}
- {{ include "reprise.container" . | nindent 2 | trim }}
  # a native sidecar: runs from before the engine starts until after it has ended
  restartPolicy: Always
  lifecycle:
    preStop:
      exec:
        command:
          - node
          - -e
          - "fetch('http://127.0.0.1:{{ int .Values.ports.admin }}/v1/drain', { method: 'POST' })"
{{- end }}

{{- define "reprise.sidecar.pluginContainer" -}}
{{- $values := .Values -}}
{{- $plugin := $values.plugin -}}
- name: reprise-plugin
  image: {{ include "reprise.image" (dict "image" $plugin.image "tag" .Chart.AppVersion) }}
  imagePullPolicy: {{ $plugin.image.pullPolicy }}
  command:
    {{- if $plugin.command }}
    {{- toYaml $plugin.command | nindent 4 }}
    {{- else }}
    - python3
    - -m
    - pip
    - install
    - --quiet
    - --no-index
    - --no-deps
    - --no-cache-dir
    - --no-compile
    - --disable-pip-version-check
    # a restarted container finds the files of its previous run
    - --upgrade
    - --find-links=/plugins
    - --target={{ $plugin.mountPath }}
    - reprise-{{ $values.engine.kind }}
    {{- if or $plugin.reuse $plugin.pages $plugin.kvTransferConfig }}
    - reprise-kernels
    {{- end }}
    {{- end }}
  env:
    - { name: HOME, value: {{ $plugin.mountPath }} }
    - { name: TMPDIR, value: {{ $plugin.mountPath }} }
  resources:
    {{- toYaml $plugin.resources | nindent 4 }}
  securityContext:
    {{- toYaml $values.securityContext | nindent 4 }}
  volumeMounts:
    - { name: reprise-plugin, mountPath: {{ $plugin.mountPath }} }
{{- end }}

{{- define "reprise.sidecar.volumes" -}}
{{ include "reprise.volumes" . }}
{{- if .Values.plugin.enabled }}
- name: reprise-plugin
  emptyDir: { sizeLimit: 256Mi }
{{- end }}
{{- with .Values.store.existingClaim }}
- name: reprise-store
  persistentVolumeClaim: { claimName: {{ . }} }
{{- end }}
{{- end }}

{{- define "reprise.sidecar.engineVolumeMounts" -}}
{{- if .Values.plugin.enabled }}
- { name: reprise-plugin, mountPath: {{ .Values.plugin.mountPath }}, readOnly: true }
{{- end }}
{{- if .Values.store.existingClaim }}
- { name: reprise-store, mountPath: /segments }
{{- end }}
{{- end }}

{{/* where the plugin is found, and where it reports to: reprise's admin port on the pod's own loopback, which needs no token */}}
{{- define "reprise.sidecar.engineEnv" -}}
{{- if .Values.plugin.enabled }}
- name: PYTHONPATH
  value: {{ .Values.plugin.mountPath }}{{ with .Values.plugin.extraPythonPath }}:{{ . }}{{ end }}
- name: REPRISE_CALLBACK_URL
  value: http://127.0.0.1:{{ int .Values.ports.admin }}/v1/replicas/{{ .Values.engine.id }}
{{- if eq .Values.engine.kind "sglang" }}
{{- with .Values.plugin.eviction }}
- { name: REPRISE_EVICTION, value: {{ . }} }
{{- end }}
{{- with include "reprise.reuse" . }}
- name: REPRISE_REUSE
  value: {{ quote . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* the flags that switch the plugin and the reports of cached tokens on, and keep the engine on the loopback */}}
{{- define "reprise.sidecar.engineArgs" -}}
{{- $plugin := .Values.plugin -}}
- --host=127.0.0.1
- --port={{ include "reprise.enginePort" . }}
{{- if eq .Values.engine.kind "sglang" }}
- --enable-cache-report
{{- if $plugin.enabled }}
- --radix-cache-backend=reprise
{{- end }}
{{- else }}
- --enable-prompt-tokens-details
{{- if $plugin.enabled }}
- {{ printf "--kv-transfer-config=%s" (include "reprise.sidecar.kvTransferConfig" .) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* kv_both is only for connectors that load KV: with it, vLLM frees blocks later */}}
{{- define "reprise.sidecar.kvTransferConfig" -}}
{{- $plugin := .Values.plugin -}}
{{- if $plugin.kvTransferConfig -}}
{{- toJson $plugin.kvTransferConfig -}}
{{- else -}}
{{- $role := ternary "kv_producer" "kv_both" (and (empty $plugin.reuse) (empty $plugin.pages)) -}}
{{- $connector := dict "kv_connector" "RepriseConnector" "kv_connector_module_path" "reprise_vllm.connector" "kv_role" $role -}}
{{- $extra := dict -}}
{{- with include "reprise.reuse" . -}}{{- $_ := set $extra "reuse" (fromJson .) -}}{{- end -}}
{{- range $name := list "pages" "eviction" -}}
{{- with get $plugin $name -}}{{- $_ := set $extra $name . -}}{{- end -}}
{{- end -}}
{{- if $extra -}}{{- $_ := set $connector "kv_connector_extra_config" $extra -}}{{- end -}}
{{- toJson $connector -}}
{{- end -}}
{{- end }}

{{/* waits until reprise has ended, for as long as that may take */}}
{{- define "reprise.sidecar.engineLifecycle" -}}
preStop:
  exec:
    command:
      - {{ .Values.engine.python }}
      - -c
      - |
        import socket, time
        end = time.monotonic() + {{ add (int (include "reprise.drainSeconds" .)) 3 }}
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", {{ int .Values.ports.admin }}), 1).close()
            except OSError:
                break
            time.sleep(0.2)
{{- end }}
