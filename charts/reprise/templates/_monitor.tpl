{{/* how Prometheus scrapes a pod; callers from outside the pod must send the admin token */}}
{{- define "reprise.scrape" -}}
{{- $token := .root.Values.secrets.adminToken -}}
- port: admin
  path: /metrics
  interval: {{ .interval }}
  authorization:
    type: Bearer
    credentials:
      name: {{ required "metrics: Prometheus has to send the admin token; put one into a Secret and name it in secrets.adminToken.existingSecret" $token.existingSecret }}
      key: {{ $token.key }}
{{- end }}
