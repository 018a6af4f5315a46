/** On volumes: the applied record, written only by this product. */
export const appliedAnnotation = 'k8s-cloud-tagger/applied'

/** On claims: the claim's own tags and its wish to be left alone, both off until switched on. */
export const tagsAnnotation = 'k8s-cloud-tagger/tags'
export const ignoreAnnotation = 'k8s-cloud-tagger/ignore'
