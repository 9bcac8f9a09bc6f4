{{/* The name of all objects. */}}
{{- define "palimpsest.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "palimpsest.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "palimpsest.labels" -}}
{{ include "palimpsest.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "palimpsest.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{/* Where the agent calls. */}}
{{- define "palimpsest.address" -}}
{{- if eq .Values.sidecar.listen "socket" -}}unix:///run/palimpsest/palimpsest.sock{{- else -}}127.0.0.1:7171{{- end -}}
{{- end }}

{{/* What both modes set, and what values add, sorted. */}}
{{- define "palimpsest.commonArgs" -}}
{{- if eq .Values.store.kind "bolt" }}
- --data-dir=/data
- --max-store-size={{ .Values.maxStoreSize }}
{{- else }}
- --store={{ .Values.store.kind }}
- --store-dsn-file=/etc/palimpsest-store/dsn
{{- end }}
- --ops=:{{ .Values.opsPort }}
{{- range $flag, $value := .Values.settings }}
- {{ printf "--%s=%s" $flag (ternary $value (toJson $value) (kindIs "string" $value)) | quote }}
{{- end }}
{{- end }}

{{/*
The kubelet asks the operations listener. A store that is full or whose disk failed is not ready; it is alive, and a restart mends
neither.
*/}}
{{- define "palimpsest.probes" -}}
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
livenessProbe:
  httpGet: {path: /livez, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{/* The rest of the sidecar's container. */}}
{{- define "palimpsest.container" -}}
{{ include "palimpsest.probes" . }}
{{- with .Values.env }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsUser: 65532
  runAsGroup: 65532
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
{{- end }}

{{/* What both modes' pods have. */}}
{{- define "palimpsest.pod" -}}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Labels and annotations of pods. There is no checksum: what lies in secrets is read again when it changes, all else is an argument. */}}
{{- define "palimpsest.podMetadata" -}}
labels:
  {{- include "palimpsest.labels" . | nindent 2 }}
  {{- with .Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Where the sidecar finds its store. */}}
{{- define "palimpsest.storeMount" -}}
{{- if eq .Values.store.kind "bolt" -}}
- {name: data, mountPath: /data}
{{- else -}}
- {name: store, mountPath: /etc/palimpsest-store, readOnly: true}
{{- end -}}
{{- end }}

{{/* Where conversations lie. */}}
{{- define "palimpsest.claims" -}}
{{- if and .Values.persistence.enabled (eq .Values.store.kind "bolt") }}
volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [{{ .Values.persistence.accessMode }}]
      {{- with .Values.persistence.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources: {requests: {storage: {{ .Values.persistence.size }}}}
{{- end }}
{{- end }}

{{- define "palimpsest.volumes" -}}
{{- if ne .Values.store.kind "bolt" }}
- name: store
  secret:
    secretName: {{ required "store.dsnSecret is needed: a secret whose key dsn says where the database is" .Values.store.dsnSecret }}
    defaultMode: 0440
    items:
      - {key: dsn, path: dsn}
{{- else if not .Values.persistence.enabled }}
- name: data
  emptyDir: {sizeLimit: {{ .Values.persistence.size }}}
{{- end }}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
