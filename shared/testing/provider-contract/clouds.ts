import { startAws } from './aws-subject.ts'
import { startAzure } from './azure-subject.ts'
import type { CloudName, CloudSubject, CloudSubjectOptions } from './cloud-subject.ts'
import { startGcp } from './gcp-subject.ts'

/** Every cloud with a real SDK. A suite over these is a suite over all that a new cloud has to pass. */
export const clouds: Readonly<Record<CloudName, (options?: CloudSubjectOptions) => Promise<CloudSubject>>> = {
  aws: startAws,
  gcp: startGcp,
  azure: startAzure,
}

export const cloudNames = Object.keys(clouds) as readonly CloudName[]
