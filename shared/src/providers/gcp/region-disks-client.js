// Like `disks-client.js`, and apart from it, since few clusters have regional disks. A file of its own, since a bundler
// gives the names of a CommonJS module to static imports only.
export { RegionDisksClient } from '@google-cloud/compute/build/src/v1/region_disks_client.js'
