// By its own file: the package's entry loads a hundred clients. In JavaScript, with types of ours beside it, since the
// package's own take the compiler ten seconds and 300 MB.
export { DisksClient } from '@google-cloud/compute/build/src/v1/disks_client.js'
