{{- define "gateway.fullname" -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* What finds the pods of one component of this release: (dict "root" $ "component" "edge"). */}}
{{- define "gateway.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "gateway.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* What the gateway's containers may do: nothing but run. */}}
{{- define "gateway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Names of the Secrets: (dict "root" $ "of" "nats"). */}}
{{- define "gateway.secret" -}}
{{- $section := index .root.Values .of -}}
{{- default (printf "%s-%s" (include "gateway.fullname" .root) .of) $section.existingSecret -}}
{{- end -}}

{{- define "gateway.fromSecret" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ default .name .key }}{{ if .optional }}, optional: true{{ end }} } }
{{ end -}}

{{- define "gateway.hasRedis" -}}
{{- if and (ne .Values.mode "single") (or .Values.redis.enabled .Values.redis.existingSecret) -}}yes{{- end -}}
{{- end -}}

{{/* The servers that a service speaks TLS with by files, separated by blanks: (dict "root" $ "name" "edge" "service" …). */}}
{{- define "gateway.tlsServers" -}}
{{- $values := .root.Values -}}
{{- if ne .name "single" -}}
{{- if $values.nats.tls.existingSecret }}nats {{ end -}}
{{- if and .service.database $values.postgresql.tls.existingSecret }}postgresql {{ end -}}
{{- if and .service.redis $values.redis.tls.existingSecret (include "gateway.hasRedis" .root) }}redis {{ end -}}
{{- end -}}
{{- end -}}

{{/* The environment of one service, or of the one pod: (dict "root" $ "name" "edge" "service" …). Each variable is one that it reads. */}}
{{- define "gateway.env" -}}
{{- $root := .root -}}{{- $service := .service -}}{{- $single := eq .name "single" -}}
- { name: DATA_DIR, value: /data }
- { name: PROMETHEUS_PORT, value: "9464" }
{{- if or $single $service.public }}
- { name: PORT, value: "7890" }
{{- end }}
{{- if $root.Values.toml }}
- { name: CONFIG_FILE, value: /etc/model-gateway/gateway.toml }
{{- end }}
{{- range $name := $service.settings }}
{{- if hasKey $root.Values.settings $name }}
- { name: {{ $name }}, value: {{ include "gateway.scalar" (index $root.Values.settings $name) | quote }} }
{{- end }}
{{- end }}
{{- if not $single }}
- { name: NATS_PERMISSIONS, value: require }
{{ include "gateway.fromSecret" (dict "name" "NATS_URL" "secret" (include "gateway.secret" (dict "root" $root "of" "nats")) "key" (printf "NATS_URL_%s" (.name | upper | replace "-" "_"))) | trim }}
{{- end }}
{{- if eq .name "stats" }}
- { name: NATS_REPLICAS, value: {{ $root.Values.nats.replicas | quote }} }
{{- end }}
{{- if $service.database }}
- { name: STORAGE_MODE, value: {{ ternary "sqlite" "postgresql" $single }} }
{{- if not $single }}
{{ include "gateway.fromSecret" (dict "name" "DATABASE_URL" "secret" (include "gateway.secret" (dict "root" $root "of" "postgresql"))) | trim }}
{{- end }}
{{- end }}
{{- if and $service.redis (include "gateway.hasRedis" $root) }}
{{ include "gateway.fromSecret" (dict "name" "REDIS_URL" "secret" (include "gateway.secret" (dict "root" $root "of" "redis"))) | trim }}
{{- end }}
{{- range $server := include "gateway.tlsServers" . | trim | splitList " " | compact }}
{{- $tls := (index $root.Values $server).tls }}
{{- $prefix := ternary "DATABASE" (upper $server) (eq $server "postgresql") }}
{{- range $variable, $key := dict "CA_FILE" $tls.caKey "CERT_FILE" $tls.certKey "KEY_FILE" $tls.keyKey }}
{{- if $key }}
- { name: {{ $prefix }}_TLS_{{ $variable }}, value: {{ printf "/etc/model-gateway-tls/%s/%s" $server $key | quote }} }
{{- end }}
{{- end }}
{{- with $tls.serverName }}
- { name: {{ $prefix }}_TLS_SERVER_NAME, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- $keys := include "gateway.secret" (dict "root" $root "of" "secrets") }}
{{- if $service.masterKey }}
{{ include "gateway.fromSecret" (dict "name" "GATEWAY_MASTER_KEY" "secret" $keys) | trim }}
{{- end }}
{{- if $service.console }}
{{ include "gateway.fromSecret" (dict "name" "CONSOLE_SECRET_KEY" "secret" $keys "optional" true) | trim }}
{{ include "gateway.fromSecret" (dict "name" "CONSOLE_PASSWORD" "secret" $keys "optional" true) | trim }}
{{- with $root.Values.secrets.oidcSecret }}
{{ include "gateway.fromSecret" (dict "name" "CONSOLE_OIDC_CLIENT_SECRET" "secret" .) | trim }}
{{- end }}
{{- end }}
{{- with $root.Values.secrets.telemetrySecret }}
{{ include "gateway.fromSecret" (dict "name" "OTEL_EXPORTER_OTLP_ENDPOINT" "secret" .) | trim }}
{{ include "gateway.fromSecret" (dict "name" "OTEL_EXPORTER_OTLP_HEADERS" "secret" . "optional" true) | trim }}
{{- end }}
{{- end -}}

{{/* Helm reads every number as a float: 1000000 would become 1e+06. */}}
{{- define "gateway.scalar" -}}
{{- if kindIs "float64" . -}}{{- if eq (floor .) . -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}

{{/* A pod of the gateway: (dict "root" $ "name" "edge" "service" … "values" .Values.edge "outbox" "emptyDir"|"claim"|NAME OF A CLAIM). */}}
{{- define "gateway.pod" -}}
{{- $root := .root -}}{{- $values := .values -}}{{- $uid := ternary 10001 1000 (eq .name "script-runner") -}}
metadata:
  labels:
    {{- include "gateway.labels" (dict "root" $root "component" .name) | nindent 4 }}
    {{- with $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/config: {{ $root.Values.toml | sha256sum }}
    {{- with $root.Values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- with $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
  {{- with $root.Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: {{ $uid }}
    runAsGroup: {{ $uid }}
    fsGroup: {{ $uid }}
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- if and (eq .name "script-runner") $root.Values.networkPolicy.natsClusterIP $root.Values.nats.enabled }}
  # Without DNS.
  dnsPolicy: None
  dnsConfig: { nameservers: [127.0.0.1] }
  hostAliases:
    - ip: {{ $root.Values.networkPolicy.natsClusterIP }}
      hostnames: [{{ include "gateway.fullname" $root }}-nats]
  {{- end }}
  {{- if $root.Values.topologySpread }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gateway.selector" (dict "root" $root "component" $.name) | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .name }}
      image: {{ include "gateway.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{ ternary (list "up") (list "serve" .name) (eq .name "single") | toJson }}
      env:
        {{- include "gateway.env" . | nindent 8 }}
      ports:
        {{- if or .service.public (eq .name "single") }}
        - { name: http, containerPort: 7890 }
        {{- end }}
        - { name: probes, containerPort: 9464 }
      startupProbe:
        httpGet: { path: /healthz, port: probes }
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 90
      livenessProbe:
        httpGet: { path: /healthz, port: probes }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: probes }
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 2
      {{- if gt (int $root.Values.preStopSeconds) 0 }}
      # Connections come until every node has forgotten the pod; only then does it begin to leave.
      lifecycle: { preStop: { sleep: { seconds: {{ $root.Values.preStopSeconds }} } } }
      {{- end }}
      resources: {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- include "gateway.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if $root.Values.toml }}
        - { name: config, mountPath: /etc/model-gateway, readOnly: true }
        {{- end }}
        {{- range $server := include "gateway.tlsServers" . | trim | splitList " " | compact }}
        - { name: {{ $server }}-tls, mountPath: /etc/model-gateway-tls/{{ $server }}, readOnly: true }
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 64Mi } }
    {{- if eq .outbox "emptyDir" }}
    - { name: data, emptyDir: { sizeLimit: 512Mi } }
    {{- else if ne .outbox "claim" }}
    - { name: data, persistentVolumeClaim: { claimName: {{ .outbox }} } }
    {{- end }}
    {{- if $root.Values.toml }}
    - { name: config, configMap: { name: {{ include "gateway.fullname" $root }} } }
    {{- end }}
    {{- range $server := include "gateway.tlsServers" . | trim | splitList " " | compact }}
    - { name: {{ $server }}-tls, secret: { secretName: {{ (index $root.Values $server).tls.existingSecret | quote }}, defaultMode: 288 } }
    {{- end }}
{{- end -}}

{{/* One object over another: (dict "of" … "with" …). */}}
{{- define "gateway.merged" -}}
{{ toYaml (mergeOverwrite (deepCopy .of) .with) }}
{{- end -}}

{{/* What makes one of several NATS servers part of a cluster. */}}
{{- define "gateway.natsCluster" -}}
server_name: $POD_NAME
cluster {
  name: {{ include "gateway.fullname" . | quote }}
  listen: "0.0.0.0:6222"
  authorization { user: route, password: $NATS_ROUTE_PASSWORD, timeout: 5 }
  routes: [
    {{- range $at := until (int .Values.nats.replicas) }}
    $NATS_ROUTE_{{ $at }}
    {{- end }}
  ]
}
{{- end -}}

{{/* The claim of a server that this chart runs: (dict "root" $ "component" "nats" "storage" …). */}}
{{- define "gateway.claim" -}}
persistentVolumeClaimRetentionPolicy: { whenDeleted: Retain, whenScaled: Retain }
volumeClaimTemplates:
  - metadata:
      name: data
      labels:
        {{- include "gateway.selector" (dict "root" .root "component" .component) | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .storage.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources: { requests: { storage: {{ .storage.size }} } }
{{- end -}}

{{/* The rule by which a service reaches a server: the chart's own pods, or an external one. */}}
{{- define "gateway.serverPeer" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- if (index .root.Values .server).enabled -}}
- ports: [{ protocol: TCP, port: {{ .own }} }]
  to:
    - podSelector:
        matchLabels:
          {{- include "gateway.selector" (dict "root" .root "component" .server) | nindent 10 }}
{{- else -}}
- ports: [{ protocol: TCP, port: {{ index $policy (printf "%sPort" .server) }} }]
  {{- with index $policy (printf "%sPeers" .server) }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}
