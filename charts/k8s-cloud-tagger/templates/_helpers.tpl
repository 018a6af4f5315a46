{{/* Names, labels and metadata. Included by every template, so the names are part of what the chart promises. */}}

{{- define "k8s-cloud-tagger.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 47 characters, so that the longest suffix, "-reconciler" with room to spare, fits into a DNS label. */}}
{{- define "k8s-cloud-tagger.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 47 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "k8s-cloud-tagger.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- $full | trunc 47 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "k8s-cloud-tagger.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "k8s-cloud-tagger.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "k8s-cloud-tagger.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* What selects the pods of one program. Takes root and program. */}}
{{- define "k8s-cloud-tagger.selectorLabels" -}}
app.kubernetes.io/name: {{ include "k8s-cloud-tagger.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .program }}
{{- end -}}

{{/* The maps of a list, the later winning, as JSON. Unlike mergeOverwrite it lets false, 0 and "" win as well. */}}
{{- define "k8s-cloud-tagger.merged" -}}
{{- $merged := dict -}}
{{- range . -}}{{- range $key, $value := . -}}{{- $_ := set $merged $key $value -}}{{- end -}}{{- end -}}
{{- $merged | toJson -}}
{{- end -}}

{{/*
metadata of an object. Takes root, name, and optionally: component; clusterScoped; namespace; own, a list of maps that may
hold annotations and labels, the later winning; annotations, ours, which win over all.
*/}}
{{- define "k8s-cloud-tagger.metadata" -}}
{{- $standard := include "k8s-cloud-tagger.labels" .root | fromYaml -}}
{{- if .component -}}{{- $_ := set $standard "app.kubernetes.io/component" .component -}}{{- end -}}
{{- $labels := list $standard .root.Values.commonLabels -}}
{{- $annotations := list .root.Values.commonAnnotations -}}
{{- range .own -}}
{{- $labels = append $labels (default dict .labels) -}}
{{- $annotations = append $annotations (default dict .annotations) -}}
{{- end -}}
{{- $annotations = append $annotations (default dict .annotations) -}}
metadata:
  name: {{ .name }}
  {{- if not .clusterScoped }}
  namespace: {{ default (include "k8s-cloud-tagger.namespace" .root) .namespace }}
  {{- end }}
  labels:
    {{- include "k8s-cloud-tagger.merged" $labels | fromJson | toYaml | nindent 4 }}
  {{- with include "k8s-cloud-tagger.merged" $annotations | fromJson }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The programs that this release runs, as JSON: {"programs": [...]}. */}}
{{- define "k8s-cloud-tagger.programs" -}}
{{- $programs := list -}}
{{- range list "webhook" "reconciler" -}}
{{- if (index $.Values .).enabled -}}{{- $programs = append $programs . -}}{{- end -}}
{{- end -}}
{{- if not $programs -}}{{- fail "webhook.enabled, reconciler.enabled: one of them has to be true" -}}{{- end -}}
{{- dict "programs" $programs | toJson -}}
{{- end -}}

{{- define "k8s-cloud-tagger.image" -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}
{{- else -}}{{ .repository }}:{{ default .appVersion .tag }}
{{- end -}}
{{- end -}}
