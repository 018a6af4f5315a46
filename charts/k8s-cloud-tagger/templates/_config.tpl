{{/*
The config file: .Values.config, with what stands at the top level, and what the chart knows itself. Fails where one thing
is said twice, and differently.
*/}}
{{- define "k8s-cloud-tagger.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- range $key := list "cloudProvider" "clusterName" -}}
{{- $top := default "" (index $.Values $key) | toString -}}
{{- $inner := default "" (index $config $key) | toString -}}
{{- $differ := ternary (ne (lower $top) (lower $inner)) (ne $top $inner) (eq $key "cloudProvider") -}}
{{- if and $top $inner $differ -}}
{{- fail (printf "%s: %s, config.%s: %s; set one of them, or both alike" $key $top $key $inner) -}}
{{- end -}}
{{- with coalesce $top $inner -}}{{- $_ := set $config $key . -}}{{- end -}}
{{- end -}}
{{- with $config.cloudProvider -}}{{- $_ := set $config "cloudProvider" (lower .) -}}{{- end -}}

{{- $requeue := default dict $config.requeue -}}
{{- range $key, $top := .Values.requeue -}}
{{- $inner := index $requeue $key -}}
{{- if and $top $inner (ne $top $inner) -}}
{{- fail (printf "requeue.%s: %s, config.requeue.%s: %s; set one of them, or both alike" $key $top $key $inner) -}}
{{- end -}}
{{- if $top -}}{{- $_ := set $requeue $key $top -}}{{- end -}}
{{- end -}}
{{- if $requeue -}}{{- $_ := set $config "requeue" $requeue -}}{{- end -}}

{{- range $program := list "webhook" "reconciler" -}}
{{- $group := default dict (index $config $program) -}}
{{- $runs := (index $.Values $program).enabled -}}
{{- if and $runs (hasKey $group "enabled") (not $group.enabled) -}}
{{- fail (printf "%s.enabled: true, config.%s.enabled: false; the second says whether any release runs one in this cluster" $program $program) -}}
{{- end -}}
{{- if not (hasKey $group "enabled") -}}{{- $_ := set $group "enabled" $runs -}}{{- end -}}
{{- $_ := set $config $program $group -}}
{{- end -}}
{{- $_ := set $config.webhook "excludedNamespaces" (include "k8s-cloud-tagger.excludedNamespaces" . | fromJson).namespaces -}}

{{- if .Values.webhook.enabled -}}
{{- $budget := default dict $config.budget -}}
{{- $replicas := (include "k8s-cloud-tagger.workload" (dict "root" . "program" "webhook") | fromJson).replicaCount | int -}}
{{- if not $budget.webhookReplicas -}}{{- $_ := set $budget "webhookReplicas" (max 1 $replicas) -}}{{- end -}}
{{- $_ := set $config "budget" $budget -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "k8s-cloud-tagger.provider" -}}
{{- $config := include "k8s-cloud-tagger.config" . | fromYaml -}}
{{- default "mock" $config.cloudProvider -}}
{{- end -}}

{{- define "k8s-cloud-tagger.clusterName" -}}
{{- (include "k8s-cloud-tagger.config" . | fromYaml).clusterName -}}
{{- end -}}

{{/* One list for the config and for the webhook configuration, as JSON: {"namespaces": [...]}. */}}
{{- define "k8s-cloud-tagger.excludedNamespaces" -}}
{{- $named := default list .Values.config.webhook.excludedNamespaces -}}
{{- dict "namespaces" (append $named (include "k8s-cloud-tagger.namespace" .) | uniq) | toJson -}}
{{- end -}}
