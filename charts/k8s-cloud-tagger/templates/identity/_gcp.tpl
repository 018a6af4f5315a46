{{/* Whether Config Connector makes the identity; "true" or empty. */}}
{{- define "k8s-cloud-tagger.gcp.enabled" -}}
{{- if and (eq (include "k8s-cloud-tagger.provider" .) "gcp") .Values.gcp.configConnector.enabled -}}true{{- end -}}
{{- end -}}

{{/* The Google service account that the programs are, as an address. Takes root and account, its id. */}}
{{- define "k8s-cloud-tagger.gcp.serviceAccountEmail" -}}
{{- printf "%s@%s.%s" .account .root.Values.gcp.projectId .root.Values.gcp.serviceAccountDomain -}}
{{- end -}}

{{- define "k8s-cloud-tagger.gcp.workloadIdentityPool" -}}
{{- default (printf "%s.svc.id.goog" .Values.gcp.projectId) .Values.gcp.workloadIdentityPool -}}
{{- end -}}

{{- define "k8s-cloud-tagger.gcp.customRoleId" -}}
{{- $given := .Values.gcp.configConnector.customRoleName -}}
{{- if $given -}}
{{- $given -}}
{{- else -}}
{{- $instead := "gcp.configConnector.customRoleName (0.4.0 had: k8s_cloud_tagger) or gcp.configConnector.existingRole" -}}
{{- $text := printf "k8s-cloud-tagger-%s" (include "k8s-cloud-tagger.identity.clusterName" (dict "root" . "instead" $instead)) -}}
{{- include "k8s-cloud-tagger.identity.cloudName" (dict "text" $text "allowed" "A-Za-z0-9_." "filler" "_" "max" 64) -}}
{{- end -}}
{{- end -}}

{{/* The role as bindings name it. */}}
{{- define "k8s-cloud-tagger.gcp.role" -}}
{{- with .Values.gcp.configConnector.existingRole -}}
{{- . -}}
{{- else -}}
{{- printf "projects/%s/roles/%s" .Values.gcp.projectId (include "k8s-cloud-tagger.gcp.customRoleId" .) -}}
{{- end -}}
{{- end -}}

{{/* metadata of an object of Config Connector. Takes root and name. */}}
{{- define "k8s-cloud-tagger.gcp.metadata" -}}
{{- $annotations := dict "cnrm.cloud.google.com/project-id" .root.Values.gcp.projectId -}}
{{- if eq .root.Values.gcp.configConnector.deletionPolicy "abandon" -}}
{{- $_ := set $annotations "cnrm.cloud.google.com/deletion-policy" "abandon" -}}
{{- end -}}
{{- include "k8s-cloud-tagger.identity.metadata" (dict "root" .root "name" .name "annotations" $annotations) -}}
{{- end -}}

{{/* One binding. Takes root, name, member, role and resource, a map. */}}
{{- define "k8s-cloud-tagger.gcp.binding" -}}
---
apiVersion: iam.cnrm.cloud.google.com/v1beta1
kind: IAMPolicyMember
{{ include "k8s-cloud-tagger.gcp.metadata" . }}
spec:
  member: {{ .member | quote }}
  role: {{ .role | quote }}
  resourceRef:
    {{- toYaml .resource | nindent 4 }}
{{- end -}}
