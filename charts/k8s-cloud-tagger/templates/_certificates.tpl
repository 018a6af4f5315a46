{{/* Where the webhook's certificate comes from, and how the API server learns of its CA. */}}

{{- define "k8s-cloud-tagger.certificateSecret" -}}
{{- if eq .Values.certificates.mode "secret" -}}
{{- required "certificates.secret.name: required where certificates.mode is secret" .Values.certificates.secret.name -}}
{{- else -}}
{{- include "k8s-cloud-tagger.fullname" . }}-webhook-tls
{{- end -}}
{{- end -}}

{{- define "k8s-cloud-tagger.certificateDirectory" -}}
{{- dig "webhook" "certificateDirectory" "/etc/k8s-cloud-tagger/tls" .Values.config -}}
{{- end -}}

{{/* The one name under which the API server calls. */}}
{{- define "k8s-cloud-tagger.certificateName" -}}
{{- printf "%s-webhook.%s.svc" (include "k8s-cloud-tagger.fullname" .) (include "k8s-cloud-tagger.namespace" .) -}}
{{- end -}}

{{/* Annotations by which somebody else fills in caBundle. */}}
{{- define "k8s-cloud-tagger.caInjection" -}}
{{- $namespace := include "k8s-cloud-tagger.namespace" . -}}
{{- if eq .Values.certificates.mode "cert-manager" -}}
cert-manager.io/inject-ca-from: {{ $namespace }}/{{ include "k8s-cloud-tagger.fullname" . }}-webhook
{{- else if eq .Values.certificates.mode "openshift" -}}
service.beta.openshift.io/inject-cabundle: "true"
{{- else if .Values.certificates.secret.injectCA -}}
cert-manager.io/inject-ca-from-secret: {{ $namespace }}/{{ include "k8s-cloud-tagger.certificateSecret" . }}
{{- end -}}
{{- end -}}

{{/* Only where nobody injects it: a rendered caBundle would take the injected one's place at each upgrade. */}}
{{- define "k8s-cloud-tagger.caBundle" -}}
{{- $secret := .Values.certificates.secret -}}
{{- if eq .Values.certificates.mode "secret" -}}
{{- if and $secret.injectCA $secret.caBundle -}}
{{- fail "certificates.secret.caBundle, certificates.secret.injectCA: set one of them" -}}
{{- end -}}
{{- if not $secret.injectCA -}}
caBundle: {{ required "certificates.secret.caBundle: required where certificates.mode is secret, unless certificates.secret.injectCA is true" $secret.caBundle }}
{{- end -}}
{{- end -}}
{{- end -}}
