{{/*
What an identity in the cloud adds to a program. Each takes root and program; the first two give a YAML map, the last one a
list of environment variables.
*/}}

{{- define "k8s-cloud-tagger.identity.accountAnnotations" -}}
{{- $provider := include "k8s-cloud-tagger.provider" .root -}}
{{- $values := .root.Values -}}
{{- if eq $provider "azure" -}}
{{- with $values.azure.clientId }}
azure.workload.identity/client-id: {{ . | quote }}
{{- end }}
{{- with $values.azure.tenantId }}
azure.workload.identity/tenant-id: {{ . | quote }}
{{- end }}
{{- else if eq $provider "gcp" -}}
{{/* Without Config Connector, an account of this name is taken to be there, as in 0.4.0. */ -}}
{{- $account := $values.gcp.serviceAccount -}}
{{- if and $values.gcp.projectId (not $values.gcp.configConnector.enabled) (not $values.gcp.projectNumber) -}}
{{- $account = default "k8s-cloud-tagger" $account -}}
{{- end -}}
{{- if and $account $values.gcp.projectId }}
iam.gke.io/gcp-service-account: {{ include "k8s-cloud-tagger.gcp.serviceAccountEmail" (dict "root" .root "account" $account) | quote }}
{{- end }}
{{- else if eq $provider "aws" -}}
{{- if and $values.aws.controllersKubernetes.enabled (not $values.aws.controllersKubernetes.podIdentity.enabled) }}
eks.amazonaws.com/role-arn: {{ include "k8s-cloud-tagger.aws.roleArn" .root | quote }}
{{- else if $values.aws.roleArn }}
eks.amazonaws.com/role-arn: {{ $values.aws.roleArn | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "k8s-cloud-tagger.identity.podLabels" -}}
{{- if eq (include "k8s-cloud-tagger.provider" .root) "azure" }}
azure.workload.identity/use: "true"
{{- end }}
{{- end -}}

{{/*
The client id of an identity that is only being made: its operator writes it into a ConfigMap, and the pods start when it is
there. The workload identity webhook of Azure leaves a variable alone that is set.
*/}}
{{- define "k8s-cloud-tagger.identity.env" -}}
{{- if and (include "k8s-cloud-tagger.azure.enabled" .root) (not .root.Values.azure.clientId) }}
- name: AZURE_CLIENT_ID
  valueFrom:
    configMapKeyRef:
      name: {{ include "k8s-cloud-tagger.azure.idsConfigMap" .root }}
      key: clientId
{{- end }}
{{- end -}}
