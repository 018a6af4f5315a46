{{/* Who the programs are to Kubernetes. */}}

{{- define "k8s-cloud-tagger.webhook.serviceAccountName" -}}
{{- include "k8s-cloud-tagger.serviceAccountName" (dict "root" . "program" "webhook") -}}
{{- end -}}

{{- define "k8s-cloud-tagger.reconciler.serviceAccountName" -}}
{{- include "k8s-cloud-tagger.serviceAccountName" (dict "root" . "program" "reconciler") -}}
{{- end -}}

{{- define "k8s-cloud-tagger.serviceAccountName" -}}
{{- $account := (include "k8s-cloud-tagger.workload" . | fromJson).serviceAccount -}}
{{- if and (not $account.create) (not $account.name) -}}
{{- fail (printf "%s.serviceAccount.name: required where serviceAccount.create is false" .program) -}}
{{- end -}}
{{- default (printf "%s-%s" (include "k8s-cloud-tagger.fullname" .root) .program) $account.name -}}
{{- end -}}

{{/*
The accounts of the enabled programs, each once, as JSON: {"accounts": [{name, programs, create, annotations, labels,
automountServiceAccountToken}]}. Two programs with one account name share one entry.
*/}}
{{- define "k8s-cloud-tagger.accounts" -}}
{{- $root := . -}}
{{- $byName := dict -}}
{{- $names := list -}}
{{- range $program := (include "k8s-cloud-tagger.programs" . | fromJson).programs -}}
{{- $arguments := dict "root" $root "program" $program -}}
{{- $own := (include "k8s-cloud-tagger.workload" $arguments | fromJson).serviceAccount -}}
{{- $name := include "k8s-cloud-tagger.serviceAccountName" $arguments -}}
{{- $known := default (dict "name" $name "programs" list "create" false "annotations" dict "labels" dict) (index $byName $name) -}}
{{- $identity := include "k8s-cloud-tagger.identity.accountAnnotations" $arguments | fromYaml -}}
{{- $_ := set $known "programs" (append $known.programs $program) -}}
{{- $_ := set $known "create" (or $known.create $own.create) -}}
{{- $_ := set $known "automountServiceAccountToken" (default false $own.automountServiceAccountToken) -}}
{{- $_ := set $known "annotations" (include "k8s-cloud-tagger.merged" (list $known.annotations $identity $own.annotations) | fromJson) -}}
{{- $_ := set $known "labels" (include "k8s-cloud-tagger.merged" (list $known.labels $own.labels) | fromJson) -}}
{{- if not (hasKey $byName $name) -}}{{- $names = append $names $name -}}{{- end -}}
{{- $_ := set $byName $name $known -}}
{{- end -}}
{{- $accounts := list -}}
{{- range $names -}}{{- $accounts = append $accounts (index $byName .) -}}{{- end -}}
{{- dict "accounts" $accounts | toJson -}}
{{- end -}}
