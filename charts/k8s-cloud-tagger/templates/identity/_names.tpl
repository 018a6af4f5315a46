{{/*
Names of identity objects, in Kubernetes and in the cloud. What 0.4.0 named by default carries the cluster's name now, so
that many clusters fit into one account; a name that is given is used as it is, and means the object of 0.4.0.
*/}}

{{/* The full name as 0.4.0 cut it: an object with another name would be another object, and the former one be deleted. */}}
{{- define "k8s-cloud-tagger.identity.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/*
A name that the cloud takes: text with whatever is not in `allowed` replaced by `filler`, at most `max` characters. It has a
hash where that would let two texts meet.
*/}}
{{- define "k8s-cloud-tagger.identity.cloudName" -}}
{{- $clean := regexReplaceAll (printf "[^%s]" .allowed) .text .filler -}}
{{- if and (eq ($clean | replace .filler "-") .text) (le (len $clean) (int .max)) -}}
{{- $clean -}}
{{- else -}}
{{- printf "%s%s%s" (trunc (int (sub .max 9)) $clean) .filler (sha256sum .text | trunc 8) -}}
{{- end -}}
{{- end -}}

{{/* The cluster's name, where a name has to carry it. Takes root, and `instead`: what may be set in its place. */}}
{{- define "k8s-cloud-tagger.identity.clusterName" -}}
{{- $cluster := dig "clusterName" "" (include "k8s-cloud-tagger.config" .root | fromYaml) -}}
{{- if not $cluster -}}
{{- fail (printf "clusterName: required for the names of identities in the cloud; or set %s" .instead) -}}
{{- end -}}
{{- $cluster -}}
{{- end -}}

{{/* Fails with the path of the first value that is empty. Takes group (its path), values and keys. */}}
{{- define "k8s-cloud-tagger.identity.require" -}}
{{- range .keys -}}
{{- if not (index $.values .) -}}{{- fail (printf "%s.%s: required" $.group .) -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* metadata of an identity object. Takes root, name, and optionally annotations, which win. */}}
{{- define "k8s-cloud-tagger.identity.metadata" -}}
{{- include "k8s-cloud-tagger.metadata" (dict "root" .root "name" .name "component" "identity" "own" (list .root.Values.identity) "annotations" .annotations) -}}
{{- end -}}

{{/* A number as it was written, whether YAML has read a text or, as a float, a number. */}}
{{- define "k8s-cloud-tagger.identity.digits" -}}
{{- if kindIs "string" . -}}{{- . -}}{{- else if . -}}{{- int64 . -}}{{- end -}}
{{- end -}}
