{{/* Whether AWS Controllers for Kubernetes make the identity; "true" or empty. */}}
{{- define "k8s-cloud-tagger.aws.enabled" -}}
{{- if and (eq (include "k8s-cloud-tagger.provider" .) "aws") .Values.aws.controllersKubernetes.enabled -}}true{{- end -}}
{{- end -}}

{{/* The issuer as trust policies name it. */}}
{{- define "k8s-cloud-tagger.aws.issuer" -}}
{{- .Values.aws.controllersKubernetes.oidcIssuerUrl | trimPrefix "https://" | trimSuffix "/" -}}
{{- end -}}

{{/* Where the disks are, if the config says so. */}}
{{- define "k8s-cloud-tagger.aws.region" -}}
{{- dig "aws" "region" "" (include "k8s-cloud-tagger.config" . | fromYaml) -}}
{{- end -}}

{{- define "k8s-cloud-tagger.aws.partition" -}}
{{- $byPrefix := dict "cn-" "aws-cn" "us-gov-" "aws-us-gov" "us-iso-" "aws-iso" "us-isob-" "aws-iso-b" "eu-isoe-" "aws-iso-e" "us-isof-" "aws-iso-f" "eusc-" "aws-eusc" -}}
{{- $region := include "k8s-cloud-tagger.aws.region" . -}}
{{- if not $region -}}
{{- $region = regexFind "oidc[.]eks[.][a-z0-9-]+" (include "k8s-cloud-tagger.aws.issuer" .) | trimPrefix "oidc.eks." -}}
{{- end -}}
{{- $partition := "aws" -}}
{{- range $prefix, $named := $byPrefix -}}{{- if hasPrefix $prefix $region -}}{{- $partition = $named -}}{{- end -}}{{- end -}}
{{- default $partition .Values.aws.partition -}}
{{- end -}}

{{- define "k8s-cloud-tagger.aws.roleName" -}}
{{- $given := .Values.aws.controllersKubernetes.roleName -}}
{{- if $given -}}
{{- $given -}}
{{- else -}}
{{- $cluster := include "k8s-cloud-tagger.identity.clusterName" (dict "root" . "instead" "aws.controllersKubernetes.roleName (0.4.0 had: k8s-cloud-tagger)") -}}
{{- $text := printf "%s-%s" $cluster (include "k8s-cloud-tagger.identity.fullname" .) -}}
{{- include "k8s-cloud-tagger.identity.cloudName" (dict "text" $text "allowed" "A-Za-z0-9_+=,.@-" "filler" "-" "max" 64) -}}
{{- end -}}
{{- end -}}

{{- define "k8s-cloud-tagger.aws.roleArn" -}}
{{- $path := .Values.aws.controllersKubernetes.path -}}
{{- printf "arn:%s:iam::%s:role%s%s" (include "k8s-cloud-tagger.aws.partition" .) (include "k8s-cloud-tagger.identity.digits" .Values.aws.controllersKubernetes.accountId) $path (include "k8s-cloud-tagger.aws.roleName" .) -}}
{{- end -}}

{{/* Who may take the role, as JSON: the accounts of this release, and nobody else. */}}
{{- define "k8s-cloud-tagger.aws.trust" -}}
{{- $stack := .Values.aws.controllersKubernetes -}}
{{- $namespace := include "k8s-cloud-tagger.namespace" . -}}
{{- $names := list -}}
{{- $subjects := list -}}
{{- range (include "k8s-cloud-tagger.accounts" . | fromJson).accounts -}}
{{- $names = append $names .name -}}
{{- $subjects = append $subjects (printf "system:serviceaccount:%s:%s" $namespace .name) -}}
{{- end -}}
{{- $statement := dict "Effect" "Allow" -}}
{{- if $stack.podIdentity.enabled -}}
{{- $tags := dict "aws:RequestTag/kubernetes-namespace" $namespace "aws:RequestTag/kubernetes-service-account" $names "aws:RequestTag/eks-cluster-name" (include "k8s-cloud-tagger.aws.eksClusterName" .) -}}
{{- $_ := set $statement "Principal" (dict "Service" "pods.eks.amazonaws.com") -}}
{{- $_ := set $statement "Action" (list "sts:AssumeRole" "sts:TagSession") -}}
{{- $_ := set $statement "Condition" (dict "StringEquals" $tags) -}}
{{- else -}}
{{- $issuer := include "k8s-cloud-tagger.aws.issuer" . -}}
{{- $provider := printf "arn:%s:iam::%s:oidc-provider/%s" (include "k8s-cloud-tagger.aws.partition" .) (include "k8s-cloud-tagger.identity.digits" .Values.aws.controllersKubernetes.accountId) $issuer -}}
{{- $_ := set $statement "Principal" (dict "Federated" $provider) -}}
{{- $_ := set $statement "Action" "sts:AssumeRoleWithWebIdentity" -}}
{{- $_ := set $statement "Condition" (dict "StringEquals" (dict (printf "%s:sub" $issuer) $subjects (printf "%s:aud" $issuer) $stack.audience)) -}}
{{- end -}}
{{- dict "Version" "2012-10-17" "Statement" (list $statement) | toPrettyJson -}}
{{- end -}}

{{- define "k8s-cloud-tagger.aws.eksClusterName" -}}
{{- with .Values.aws.controllersKubernetes.podIdentity.eksClusterName -}}
{{- . -}}
{{- else -}}
{{- include "k8s-cloud-tagger.identity.clusterName" (dict "root" . "instead" "aws.controllersKubernetes.podIdentity.eksClusterName") -}}
{{- end -}}
{{- end -}}

{{/*
Keys that the role cannot write or remove, as the programs do not either, but for those that the config lets them. As JSON:
{"patterns": [...]}.
*/}}
{{- define "k8s-cloud-tagger.aws.protectedKeys" -}}
{{- $optedIn := dig "tags" "allowedKeys" list (include "k8s-cloud-tagger.config" . | fromYaml) -}}
{{- $patterns := list -}}
{{- range $pattern := list "CSIVolumeName" "CSIVolumeSnapshotName" "KubernetesCluster" "Name" "ebs.csi.aws.com/*" "eks:*" "kubernetes.io" "kubernetes.io/*" -}}
{{- $isOptedIn := false -}}
{{- range $key := $optedIn -}}
{{- if or (eq $key $pattern) (and (hasSuffix "*" $pattern) (hasPrefix (trimSuffix "*" $pattern) $key)) -}}{{- $isOptedIn = true -}}{{- end -}}
{{- end -}}
{{- if not $isOptedIn -}}{{- $patterns = append $patterns $pattern -}}{{- end -}}
{{- end -}}
{{- dict "patterns" $patterns | toJson -}}
{{- end -}}

{{/* What the role may do, as JSON: the three calls that the programs make. */}}
{{- define "k8s-cloud-tagger.aws.policy" -}}
{{- $region := include "k8s-cloud-tagger.aws.region" . -}}
{{- $account := include "k8s-cloud-tagger.identity.digits" .Values.aws.controllersKubernetes.accountId -}}
{{- $read := dict "Sid" "ReadVolumes" "Effect" "Allow" "Action" "ec2:DescribeVolumes" "Resource" "*" -}}
{{- with $region -}}{{- $_ := set $read "Condition" (dict "StringEquals" (dict "aws:RequestedRegion" .)) -}}{{- end -}}
{{/* Without the second condition the first would allow a DeleteTags without keys, which deletes every tag. */ -}}
{{- $condition := dict
    "ForAllValues:StringNotLike" (dict "aws:TagKeys" (include "k8s-cloud-tagger.aws.protectedKeys" . | fromJson).patterns)
    "Null" (dict "aws:TagKeys" "false") -}}
{{- $wanted := dict -}}
{{- range $key, $value := .Values.aws.controllersKubernetes.volumeTags -}}{{- $_ := set $wanted (printf "aws:ResourceTag/%s" $key) $value -}}{{- end -}}
{{- with $wanted -}}{{- $_ := set $condition "StringEquals" . -}}{{- end -}}
{{- $volumes := printf "arn:%s:ec2:%s:%s:volume/*" (include "k8s-cloud-tagger.aws.partition" .) (default "*" $region) (default "*" $account) -}}
{{- $write := dict "Sid" "TagVolumes" "Effect" "Allow" "Action" (list "ec2:CreateTags" "ec2:DeleteTags") "Resource" $volumes "Condition" $condition -}}
{{- dict "Version" "2012-10-17" "Statement" (list $read $write) | toPrettyJson -}}
{{- end -}}
