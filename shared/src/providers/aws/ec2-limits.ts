/** How many ids EC2 takes in one call of CreateTags or DeleteTags. */
export const idsPerWrite = 1000

/** How many the EBS CSI driver sends to DescribeVolumes; the reference names no limit. */
export const idsPerRead = 500

/** A filter with more values is refused with FilterLimitExceeded. */
export const idsPerFilter = 200
