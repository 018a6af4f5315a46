{{/* One webhook of a configuration. Takes root, name, path, operations, failurePolicy, sideEffects. */}}
{{- define "k8s-cloud-tagger.admissionWebhook" -}}
{{- $values := .root.Values.webhook -}}
- name: {{ .name }}
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: {{ include "k8s-cloud-tagger.fullname" .root }}-webhook
      namespace: {{ include "k8s-cloud-tagger.namespace" .root }}
      path: {{ .path }}
      port: {{ $values.service.port | int }}
    {{- with include "k8s-cloud-tagger.caBundle" .root }}
    {{- . | nindent 4 }}
    {{- end }}
  failurePolicy: {{ .failurePolicy }}
  timeoutSeconds: {{ $values.timeoutSeconds | int }}
  sideEffects: {{ .sideEffects }}
  matchPolicy: Equivalent
  rules:
    - apiGroups: ['']
      apiVersions: [v1]
      resources: [persistentvolumeclaims]
      operations:
        {{- toYaml .operations | nindent 8 }}
      scope: Namespaced
  namespaceSelector:
    matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: NotIn
        values:
          {{- (include "k8s-cloud-tagger.excludedNamespaces" .root | fromJson).namespaces | toYaml | nindent 10 }}
      {{- with $values.namespaceSelector.matchExpressions }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- if eq $values.aksAdmissionsEnforcer "selectors" }}
      - key: control-plane
        operator: DoesNotExist
      - key: control-plane
        operator: NotIn
        values: ['true']
      - key: kubernetes.azure.com/managedby
        operator: NotIn
        values: [aks]
      {{- end }}
{{- end -}}

{{- define "k8s-cloud-tagger.configurationAnnotations" -}}
{{- include "k8s-cloud-tagger.caInjection" . }}
{{- if eq .Values.webhook.aksAdmissionsEnforcer "disabled" }}
admissions.enforcer/disabled: "true"
{{- end }}
{{- end -}}
