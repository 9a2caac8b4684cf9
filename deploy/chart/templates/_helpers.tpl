{{- /* Names, labels and the image. */ -}}
{{- define "tailfin.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "tailfin.fullname" -}}
{{- $name := include "tailfin.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "tailfin.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "tailfin.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: tailfin
{{- end -}}

{{- define "tailfin.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* The kind is v1 since Kubernetes 1.36. */ -}}
{{- define "tailfin.hasAdmission" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}true{{- end -}}
{{- end -}}

{{- /* The name of an object for a file: (list ROOT NAME). A file may be called in ways that an object may not. */ -}}
{{- define "tailfin.objectName" -}}
{{- $part := regexReplaceAll "[^a-z0-9]+" (index . 1 | lower) "-" -}}
{{- printf "%s-%s" (include "tailfin.fullname" (index . 0)) $part | trunc 57 | trimSuffix "-" -}}
{{- end -}}
