{{/* The least that each program needs. Neither can write a claim; volumepolicy.yaml narrows what it may do to a volume. */}}

{{- define "k8s-cloud-tagger.webhook.clusterRules" -}}
- apiGroups: ['']
  resources: [persistentvolumeclaims]
  verbs: [get]
- apiGroups: ['']
  resources: [namespaces]
  verbs: [get, list, watch]
- apiGroups: ['']
  resources: [persistentvolumes]
  verbs: [get, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end -}}

{{- define "k8s-cloud-tagger.reconciler.clusterRules" -}}
- apiGroups: ['']
  resources: [persistentvolumeclaims, namespaces]
  verbs: [list, watch]
- apiGroups: ['']
  resources: [persistentvolumes]
  verbs: [list, watch, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end -}}

{{/*
The Leases of a program, by namespace, as JSON: {"roles": [{name, namespace, leases}]}. The budget is shared through one in
the pods' own namespace; the reconcilers' leader is elected by another, which may be elsewhere.
*/}}
{{- define "k8s-cloud-tagger.leases" -}}
{{- $name := printf "%s-%s" (include "k8s-cloud-tagger.fullname" .root) .program -}}
{{- $namespace := include "k8s-cloud-tagger.namespace" .root -}}
{{- $own := dict "name" $name "namespace" $namespace "leases" (list "k8s-cloud-tagger-budget") -}}
{{- $roles := list $own -}}
{{- if eq .program "reconciler" -}}
{{- $lease := dig "reconciler" "lease" "name" "k8s-cloud-tagger-reconciler" .root.Values.config -}}
{{- $elsewhere := dig "reconciler" "lease" "namespace" "" .root.Values.config -}}
{{- if or (not $elsewhere) (eq $elsewhere $namespace) -}}
{{- $_ := set $own "leases" (append $own.leases $lease) -}}
{{- else -}}
{{- $roles = append $roles (dict "name" (printf "%s-lease" $name) "namespace" $elsewhere "leases" (list $lease)) -}}
{{- end -}}
{{- end -}}
{{- dict "roles" $roles | toJson -}}
{{- end -}}
