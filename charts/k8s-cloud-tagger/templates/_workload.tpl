{{/* What counts for a program where nothing is set. */}}
{{- define "k8s-cloud-tagger.workloadDefaults" -}}
webhook:
  replicaCount: 2
  resources:
    requests: {cpu: 50m, memory: 128Mi}
    limits: {memory: 256Mi}
reconciler:
  replicaCount: 1
  resources:
    requests: {cpu: 50m, memory: 128Mi}
    limits: {memory: 384Mi}
{{- end -}}

{{/* Keys of which the first that is set counts: the program's own, the top level's, the default. */}}
{{- define "k8s-cloud-tagger.replacedKeys" -}}
[replicaCount, revisionHistoryLimit, resources, tolerations, affinity, topologySpreadConstraints,
 priorityClassName, runtimeClassName, schedulerName, hostNetwork, dnsPolicy, dnsConfig, hostAliases,
 terminationGracePeriodSeconds, updateStrategy, imagePullSecrets, extraEnv, extraEnvFrom, extraVolumes,
 extraVolumeMounts]
{{- end -}}

{{/* Keys whose maps are merged; dots lead deeper. */}}
{{- define "k8s-cloud-tagger.mergedKeys" -}}
[podAnnotations, podLabels, nodeSelector, podSecurityContext, securityContext, livenessProbe, readinessProbe, startupProbe, image,
 deployment.env, deployment.annotations, deployment.labels, podDisruptionBudget, podDisruptionBudget.annotations,
 podDisruptionBudget.labels, serviceAccount, serviceAccount.annotations, serviceAccount.labels]
{{- end -}}

{{/* The settings of one program, as JSON. Takes root and program. */}}
{{- define "k8s-cloud-tagger.workload" -}}
{{- $own := index .root.Values .program -}}
{{- $top := .root.Values -}}
{{- $defaults := index (include "k8s-cloud-tagger.workloadDefaults" . | fromYaml) .program -}}
{{- $workload := dict "deployment" dict -}}
{{- range $key := include "k8s-cloud-tagger.replacedKeys" . | fromYamlArray -}}
{{- $found := false -}}
{{- range $source := list $own $top $defaults -}}
{{- $value := index $source $key -}}
{{- if and (not $found) (or $value (kindIs "bool" $value) (kindIs "float64" $value) (kindIs "int64" $value) (kindIs "int" $value)) -}}
{{- $found = true -}}{{- $_ := set $workload $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $key := include "k8s-cloud-tagger.mergedKeys" . | fromYamlArray -}}
{{- $maps := list -}}
{{- $parts := splitList "." $key -}}
{{- range $source := list $top $own -}}
{{- $value := default dict (index $source (first $parts)) -}}
{{- range rest $parts -}}{{- $value = default dict (index $value .) -}}{{- end -}}
{{- $maps = append $maps $value -}}
{{- end -}}
{{- $merged := include "k8s-cloud-tagger.merged" $maps | fromJson -}}
{{- if eq (len $parts) 1 -}}{{- $_ := set $workload $key $merged -}}
{{- else -}}{{- $_ := set (index $workload (first $parts)) (last $parts) $merged -}}{{- end -}}
{{- end -}}
{{- toJson $workload -}}
{{- end -}}

{{/* Apart by node and by zone, where possible: a pod that cannot be placed tags nothing. Takes root and program. */}}
{{- define "k8s-cloud-tagger.topologySpread" -}}
{{- $selector := dict "matchLabels" (include "k8s-cloud-tagger.selectorLabels" . | fromYaml) -}}
{{- $constraints := .constraints -}}
{{- if not $constraints -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" -}}
{{- $constraints = append (default list $constraints) (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway") -}}
{{- end -}}
{{- end -}}
{{- range $constraints }}
- {{ include "k8s-cloud-tagger.merged" (list (dict "labelSelector" $selector) .) }}
{{- end }}
{{- end -}}

{{/* The Deployment of one program. Takes root and program. */}}
{{- define "k8s-cloud-tagger.deployment" -}}
{{- $root := .root -}}
{{- $program := .program -}}
{{- $isWebhook := eq $program "webhook" -}}
{{- $workload := include "k8s-cloud-tagger.workload" . | fromJson -}}
{{- $config := include "k8s-cloud-tagger.config" $root | fromYaml -}}
{{- $fullname := include "k8s-cloud-tagger.fullname" $root -}}
{{- $selector := include "k8s-cloud-tagger.selectorLabels" . | fromYaml -}}
{{- $labels := include "k8s-cloud-tagger.labels" $root | fromYaml -}}
{{- if and $isWebhook $workload.hostNetwork (eq (int $config.webhook.port) 10250) -}}
{{- fail "config.webhook.port: 10250 is the kubelet's own on the host network; choose another" -}}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
{{ include "k8s-cloud-tagger.metadata" (dict "root" $root "name" (printf "%s-%s" $fullname $program) "component" $program "own" (list $workload.deployment)) }}
spec:
  replicas: {{ $workload.replicaCount | int }}
  revisionHistoryLimit: {{ $workload.revisionHistoryLimit | int }}
  selector:
    matchLabels:
      {{- toYaml $selector | nindent 6 }}
  strategy:
    {{- include "k8s-cloud-tagger.strategy" $workload | nindent 4 }}
  template:
    metadata:
      labels:
        {{- include "k8s-cloud-tagger.merged" (list (pick $labels "app.kubernetes.io/version") $root.Values.commonLabels $workload.podLabels (include "k8s-cloud-tagger.identity.podLabels" . | fromYaml) $selector) | fromJson | toYaml | nindent 8 }}
      annotations:
        {{- include "k8s-cloud-tagger.merged" (list $workload.podAnnotations (dict "checksum/config" (include "k8s-cloud-tagger.config" $root | sha256sum))) | fromJson | toYaml | nindent 8 }}
    spec:
      serviceAccountName: {{ include (printf "k8s-cloud-tagger.%s.serviceAccountName" $program) $root }}
      # The token below is enough.
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $workload.terminationGracePeriodSeconds | int }}
      {{- with include "k8s-cloud-tagger.podPlacement" $workload | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      topologySpreadConstraints:
        {{- include "k8s-cloud-tagger.topologySpread" (dict "root" $root "program" $program "constraints" $workload.topologySpreadConstraints) | fromYamlArray | toYaml | nindent 8 }}
      {{- with $workload.podSecurityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ $program }}
          image: {{ include "k8s-cloud-tagger.image" (set $workload.image "appVersion" $root.Chart.AppVersion) }}
          imagePullPolicy: {{ $workload.image.pullPolicy }}
          args: [{{ $program }}]
          env:
            {{- include "k8s-cloud-tagger.env" (dict "root" $root "program" $program "workload" $workload) | nindent 12 }}
          {{- with $workload.extraEnvFrom }}
          envFrom:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - name: http
              containerPort: {{ dig "http" "port" 8080 $config | int }}
            {{- if $isWebhook }}
            - name: https
              containerPort: {{ $config.webhook.port | int }}
            {{- end }}
          {{- range $probe := list "livenessProbe" "readinessProbe" "startupProbe" }}
          {{- with index $workload $probe }}
          {{ $probe }}:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- end }}
          {{- if and $isWebhook $root.Values.webhook.preStopSleepSeconds }}
          lifecycle:
            preStop:
              sleep:
                seconds: {{ $root.Values.webhook.preStopSleepSeconds | int }}
          {{- end }}
          {{- with $workload.securityContext }}
          securityContext:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          resources:
            {{- toYaml $workload.resources | nindent 12 }}
          volumeMounts:
            - name: config
              mountPath: /etc/k8s-cloud-tagger/config
              readOnly: true
            - name: api-access
              mountPath: /var/run/secrets/kubernetes.io/serviceaccount
              readOnly: true
            {{- if $isWebhook }}
            - name: certificate
              mountPath: {{ include "k8s-cloud-tagger.certificateDirectory" $root }}
              readOnly: true
            {{- end }}
            {{- with $workload.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        - name: config
          configMap:
            name: {{ $fullname }}
        - name: api-access
          projected:
            sources:
              - serviceAccountToken:
                  path: token
                  expirationSeconds: 3600
              - configMap:
                  name: kube-root-ca.crt
                  items:
                    - key: ca.crt
                      path: ca.crt
              - downwardAPI:
                  items:
                    - path: namespace
                      fieldRef:
                        fieldPath: metadata.namespace
        {{- if $isWebhook }}
        - name: certificate
          secret:
            secretName: {{ include "k8s-cloud-tagger.certificateSecret" $root }}
        {{- end }}
        {{- with $workload.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end -}}

{{- define "k8s-cloud-tagger.strategy" -}}
{{- if .updateStrategy -}}
{{- toYaml .updateStrategy -}}
{{- else if .hostNetwork -}}
{{/* Two pods cannot have one port of a node. */ -}}
type: RollingUpdate
rollingUpdate:
  maxSurge: 0
  maxUnavailable: 1
{{- else -}}
type: RollingUpdate
rollingUpdate:
  maxSurge: 1
  maxUnavailable: 0
{{- end -}}
{{- end -}}

{{- define "k8s-cloud-tagger.podPlacement" -}}
{{- if .hostNetwork }}
hostNetwork: true
{{- end }}
{{- with .dnsPolicy | default (ternary "ClusterFirstWithHostNet" "" (default false .hostNetwork)) }}
dnsPolicy: {{ . }}
{{- end }}
{{- range $key := list "priorityClassName" "runtimeClassName" "schedulerName" }}
{{- with index $ $key }}
{{ $key }}: {{ . }}
{{- end }}
{{- end }}
{{- range $key := list "imagePullSecrets" "dnsConfig" "hostAliases" "nodeSelector" "tolerations" "affinity" }}
{{- with index $ $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Ours, those of the identity, then the user's, in the order in which they may refer to each other. */}}
{{- define "k8s-cloud-tagger.env" -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: CONFIG_PATH
  value: /etc/k8s-cloud-tagger/config/config.yaml
{{- with include "k8s-cloud-tagger.identity.env" (dict "root" .root "program" .program) | trim }}
{{ . }}
{{- end }}
{{- range $name, $value := .workload.deployment.env }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- with .workload.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
