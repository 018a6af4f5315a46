import type { Row } from '../row.ts'
import { atRest } from './at-rest.ts'
import { burst, quotaBurst, throttled } from './burst.ts'
import { coldStart } from './cold-start.ts'
import { freshUnderLoad } from './fresh-under-load.ts'
import { hang } from './hang.ts'
import { idle } from './idle.ts'
import { latency } from './latency.ts'
import { restart } from './restart.ts'
import { reviews } from './reviews.ts'

/** In the order in which they run on a stage: what leaves disks half tagged comes first or last. */
export const rows: readonly Row[] = [
  coldStart,
  idle,
  restart,
  atRest,
  latency,
  burst,
  quotaBurst,
  throttled,
  hang,
  reviews,
  freshUnderLoad,
]
