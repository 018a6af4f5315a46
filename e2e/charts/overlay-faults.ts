import { parse } from 'yaml'
import type { RenderedObject } from './helm.ts'
import { at, textsIn } from './identity.ts'

type Objects = readonly RenderedObject[]
type Faults = Generator<string>

/**
 * One sentence for each name in rendered objects that leads nowhere, as kustomize leaves them where it does not know that a
 * field holds a name. An overlay with a fault here is applied without an error, and then does not work.
 */
export function overlayFaults(objects: Objects): readonly string[] {
  const checks = [namespaceFaults, podFaults, bindingFaults, webhookFaults, certificateFaults, policyFaults, leftovers]
  return checks.flatMap((check) => Array.from(check(objects)))
}

function ofKind(objects: Objects, kind: string): Objects {
  return objects.filter((object) => object.kind === kind)
}

function has(objects: Objects, kind: string, id: string): boolean {
  return ofKind(objects, kind).some(({ metadata }) => `${metadata.namespace}/${metadata.name}` === id)
}

function namespaceOf(objects: Objects): string {
  return objects.find(({ kind }) => kind === 'Deployment')?.metadata.namespace ?? ''
}

function* namespaceFaults(objects: Objects): Faults {
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace).filter((one) => one !== undefined))
  if (namespaces.size !== 1) yield `objects lie in ${namespaces.size} namespaces: ${[...namespaces].join(', ')}`
}

/** Pods run as accounts and mount a config that are there. */
function* podFaults(objects: Objects): Faults {
  const namespace = namespaceOf(objects)
  for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
    const pod = at(spec, 'template', 'spec')
    const account = `${namespace}/${String(at(pod, 'serviceAccountName'))}`
    if (!has(objects, 'ServiceAccount', account)) yield `${metadata.name} runs as ${account}, which is not there`
    for (const volume of at(pod, 'volumes') as readonly unknown[]) {
      for (const name of textsIn(at(volume, 'configMap', 'name'))) {
        if (!has(objects, 'ConfigMap', `${namespace}/${name}`))
          yield `${metadata.name} mounts ${name}, which is not there`
      }
    }
  }
}

/** Rights are given to accounts that are there, by roles that are there. */
function* bindingFaults(objects: Objects): Faults {
  for (const binding of [...ofKind(objects, 'RoleBinding'), ...ofKind(objects, 'ClusterRoleBinding')]) {
    const { name } = binding.metadata
    const subject = at(binding, 'subjects', 0)
    const account = `${String(at(subject, 'namespace'))}/${String(at(subject, 'name'))}`
    const role = String(at(binding, 'roleRef', 'name'))
    const roles = ofKind(objects, String(at(binding, 'roleRef', 'kind')))
    if (!has(objects, 'ServiceAccount', account)) yield `${name} binds ${account}, which is not there`
    if (!roles.some(({ metadata }) => metadata.name === role)) yield `${name} gives ${role}, which is not there`
  }
}

/** The API server calls a Service that is there, and leaves the product's own namespace out, as the config says too. */
function* webhookFaults(objects: Objects): Faults {
  const namespace = namespaceOf(objects)
  const map = objects.find(({ kind }) => kind === 'ConfigMap')
  const config: unknown = parse(String(at(map, 'data', 'config.yaml')))
  const excluded = textsIn(at(config, 'webhook', 'excludedNamespaces'))
  if (!excluded.includes(namespace)) yield `the config does not exclude ${namespace}`
  for (const { metadata, webhooks } of ofKind(objects, 'ValidatingWebhookConfiguration')) {
    const service = at(webhooks, 0, 'clientConfig', 'service')
    const id = `${String(at(service, 'namespace'))}/${String(at(service, 'name'))}`
    const selected = textsIn(at(webhooks, 0, 'namespaceSelector', 'matchExpressions', 0, 'values'))
    if (!has(objects, 'Service', id)) yield `${metadata.name} calls ${id}, which is not there`
    if (selected.join() !== excluded.join()) {
      yield `${metadata.name} excludes ${selected.join()}, the config ${excluded.join()}`
    }
  }
}

/** The certificate is for the Service, from an issuer that is there, in the Secret that the pods mount, and is trusted. */
function* certificateFaults(objects: Objects): Faults {
  const namespace = namespaceOf(objects)
  const certificates = ofKind(objects, 'Certificate')
  for (const { spec } of certificates) {
    const issuer = String(at(spec, 'issuerRef', 'name'))
    if (!has(objects, 'Issuer', `${namespace}/${issuer}`)) yield `a certificate is from ${issuer}, which is not there`
  }
  const served = certificates.find(({ spec }) => at(spec, 'dnsNames') !== undefined)
  if (served === undefined) return
  const service = objects.find(({ kind }) => kind === 'Service')
  const dnsName = `${service?.metadata.name}.${namespace}.svc`
  const dnsNames = textsIn(at(served, 'spec', 'dnsNames'))
  if (dnsNames.join() !== dnsName) yield `the certificate is for ${dnsNames.join()}, not for ${dnsName}`
  const registration = objects.find(({ kind }) => kind === 'ValidatingWebhookConfiguration')
  const injected = registration?.metadata.annotations?.['cert-manager.io/inject-ca-from']
  const source = `${namespace}/${served.metadata.name}`
  if (injected !== source) yield `the CA is injected from ${injected}, not from ${source}`
  const secret = String(at(served, 'spec', 'secretName'))
  if (!JSON.stringify(ofKind(objects, 'Deployment')).includes(`"secretName":"${secret}"`))
    yield `no pod mounts ${secret}`
}

/** The policy binds the accounts that there are, whatever they are called. */
function* policyFaults(objects: Objects): Faults {
  const policies = ofKind(objects, 'ValidatingAdmissionPolicy')
  const bindings = ofKind(objects, 'ValidatingAdmissionPolicyBinding')
  for (const { metadata } of [...policies, ...bindings]) {
    if (metadata.namespace !== undefined) yield `${metadata.name} has a namespace`
  }
  for (const { spec } of bindings) {
    const name = String(at(spec, 'policyName'))
    if (!policies.some(({ metadata }) => metadata.name === name)) yield `${name} is bound, and is not there`
  }
  const text = JSON.stringify(policies)
  for (const { metadata } of ofKind(objects, 'ServiceAccount')) {
    const user = `system:serviceaccount:${metadata.namespace}:${metadata.name}`
    if (!text.includes(`'${user}'`)) yield `${user} is free of the policy`
  }
}

/** What only overlays read. */
function* leftovers(objects: Objects): Faults {
  for (const { apiVersion, kind, metadata } of objects) {
    if (apiVersion.startsWith('kustomize.')) yield `${kind} ${metadata.name} would be applied`
  }
}
