{{/* Whether Azure Service Operator makes the identity; "true" or empty. */}}
{{- define "k8s-cloud-tagger.azure.enabled" -}}
{{- if and (eq (include "k8s-cloud-tagger.provider" .) "azure") .Values.azure.serviceOperator.enabled -}}true{{- end -}}
{{- end -}}

{{/* The ConfigMap in which the operator leaves the ids of the identity. */}}
{{- define "k8s-cloud-tagger.azure.idsConfigMap" -}}
{{- default (printf "%s-identity" (include "k8s-cloud-tagger.identity.fullname" .)) .Values.azure.identityName -}}
{{- end -}}

{{/* The identity's name in Azure. Where azure.identityName is given it is the full name, as it was in 0.4.0. */}}
{{- define "k8s-cloud-tagger.azure.identityAzureName" -}}
{{- $fullname := include "k8s-cloud-tagger.identity.fullname" . -}}
{{- if .Values.azure.identityName -}}
{{- $fullname -}}
{{- else -}}
{{- $cluster := include "k8s-cloud-tagger.identity.clusterName" (dict "root" . "instead" "azure.identityName (0.4.0 had: k8s-cloud-tagger-identity)") -}}
{{- include "k8s-cloud-tagger.identity.cloudName" (dict "text" (printf "%s-%s" $cluster $fullname) "allowed" "A-Za-z0-9_-" "filler" "-" "max" 128) -}}
{{- end -}}
{{- end -}}

{{/* metadata of an object of Azure Service Operator. Takes root and name. */}}
{{- define "k8s-cloud-tagger.azure.metadata" -}}
{{- $annotations := dict "serviceoperator.azure.com/reconcile-policy" .root.Values.azure.serviceOperator.reconcilePolicy -}}
{{- include "k8s-cloud-tagger.identity.metadata" (dict "root" .root "name" .name "annotations" $annotations) -}}
{{- end -}}

{{/* A UUID that always is the same for one text. Role assignments are named by one, and so two clusters' must differ. */}}
{{- define "k8s-cloud-tagger.azure.uuid" -}}
{{- $hash := sha256sum . -}}
{{- printf "%s-%s-5%s-8%s-%s" (substr 0 8 $hash) (substr 8 12 $hash) (substr 13 16 $hash) (substr 17 20 $hash) (substr 20 32 $hash) -}}
{{- end -}}

{{/* Where the roles count, as JSON: {"scopes": [{id, suffix}]}. No suffix is the whole subscription. */}}
{{- define "k8s-cloud-tagger.azure.scopes" -}}
{{- $stack := .Values.azure.serviceOperator -}}
{{- $subscription := printf "/subscriptions/%s" $stack.subscriptionId -}}
{{- $scopes := list -}}
{{- range $stack.diskResourceGroups -}}
{{- if eq . "*" -}}
{{- $scopes = append $scopes (dict "id" $subscription "suffix" "") -}}
{{- else -}}
{{- $suffix := include "k8s-cloud-tagger.identity.cloudName" (dict "text" (lower .) "allowed" "a-z0-9-" "filler" "-" "max" 90) -}}
{{- $scopes = append $scopes (dict "id" (printf "%s/resourceGroups/%s" $subscription .) "suffix" (printf "-%s" (trimSuffix "-" $suffix))) -}}
{{- end -}}
{{- end -}}
{{- if not $scopes -}}
{{- if not .Values.azure.identityName -}}
{{- fail "azure.serviceOperator.diskResourceGroups: required, the resource groups that hold the disks, on AKS the node resource group; [\"*\"] is the whole subscription" -}}
{{- end -}}
{{- $scopes = list (dict "id" $subscription "suffix" "") -}}
{{- end -}}
{{- dict "scopes" $scopes | toJson -}}
{{- end -}}

{{/* What the identity may be, as JSON: {"roles": [{id, name}]}. */}}
{{- define "k8s-cloud-tagger.azure.roles" -}}
{{- $builtIn := "/providers/Microsoft.Authorization/roleDefinitions" -}}
{{- $roles := list -}}
{{- with .Values.azure.serviceOperator.roleDefinitionId -}}
{{- $roles = list (dict "id" . "name" "disk-role") -}}
{{- else -}}
{{/* Tag Contributor writes tags and sees no disk in Resource Graph; Reader does. */ -}}
{{- $roles = list
    (dict "id" (printf "%s/4a9ae827-6dc8-4573-8ac7-8239d42aa03f" $builtIn) "name" "disk-tagger")
    (dict "id" (printf "%s/acdd72a7-3385-48ef-bd42-f606fba81ae7" $builtIn) "name" "disk-reader") -}}
{{- end -}}
{{- dict "roles" $roles | toJson -}}
{{- end -}}
