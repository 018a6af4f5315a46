/** On volumes: the applied record, written only by this product. */
export const appliedAnnotation = 'k8s-cloud-tagger/applied'

/** kubectl's copy of the whole object: no rule reads it, and no cache keeps it. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** On claims, behind each prefix that the config lists: tags of the claim's own, and its wish to be left alone. */
export const ownTagsAnnotation = (prefix: string): string => `${prefix}/tags`
export const ignoreAnnotation = (prefix: string): string => `${prefix}/ignore`
