import { expect } from 'chai'
import { conditionTable as azureConditions, faultTable as azureFaults } from '../../testing/azure/faults.ts'
import type { CommonFault } from '../../testing/cloud-fake/faults.ts'
import { conditionTable as ec2Conditions, faultTable as ec2Faults } from '../../testing/ec2/faults.ts'
import { conditionTable as gcpConditions, faultTable as gcpFaults } from '../../testing/gcp/faults.ts'
import { startAws } from '../../testing/provider-contract/aws-subject.ts'
import { startAzure } from '../../testing/provider-contract/azure-subject.ts'
import type { CloudSubject, CloudSubjectOptions } from '../../testing/provider-contract/cloud-subject.ts'
import { startGcp } from '../../testing/provider-contract/gcp-subject.ts'
import { apply, callOptions, changes, failureOf, rejectionOf } from '../../testing/provider-contract/subject.ts'
import { systemClock } from '../runtime/clock.ts'
import type { DiskRef } from '../claims/disk.ts'
import { DefaultCredentials } from './gcp/credentials.ts'
import { NoCredentials } from './gcp/errors.ts'

/** What the product does under a fault, or under a lasting condition. */
type Check<Subject> = (subject: Subject) => Promise<void>

/** Long enough for loopback, short enough for a test that waits for it. */
const callTimeoutMs = 250

const wanted = changes({ team: 'core' })
const throttle = { kind: 'throttle', retryAfterSeconds: 7 } as const

async function write(subject: CloudSubject, disk: DiskRef): Promise<void> {
  await apply(subject, disk, wanted)
}

/** A write under this fault comes to nothing that is known, whatever it did to the disk. */
function outcomeUnknown(fault: CommonFault, { landed }: { readonly landed: boolean }): Check<CloudSubject> {
  return async (subject) => {
    const disk = subject.addDisk()
    subject.inject(fault, 'write')

    const error = await failureOf(write(subject, disk), 'unavailable')

    expect(error.outcomeUnknown).to.equal(true)
    expect(subject.tagsOf(disk)).to.deep.equal(landed ? { team: 'core' } : {})
  }
}

const commonChecks: Readonly<Record<CommonFault['kind'] | 'error', Check<CloudSubject>>> = {
  async throttle(subject) {
    const disk = subject.addDisk()
    subject.inject(throttle, 'write')

    const error = await failureOf(write(subject, disk), 'throttled')

    expect([error.retryAfterMs, error.outcomeUnknown, subject.tagsOf(disk)]).to.deep.equal([7000, false, {}])
  },
  async error(subject) {
    const disk = subject.addDisk()
    subject.refuseUnknown('write')

    const error = await failureOf(write(subject, disk), 'unavailable')

    expect([error.code, error.outcomeUnknown]).to.deep.equal([subject.unknownCode, false])
    expect(subject.tagsOf(disk)).to.deep.equal({})
  },
  hang: outcomeUnknown({ kind: 'hang' }, { landed: false }),
  drop: outcomeUnknown({ kind: 'drop' }, { landed: false }),
  async 'lost-answer'(subject) {
    for (const how of ['drop', 'hang'] as const) {
      await outcomeUnknown({ kind: 'lost-answer', how }, { landed: true })(subject)
    }
  },
  async 'late-write'(subject) {
    const disk = subject.addDisk()
    subject.inject({ kind: 'late-write', landsAfterMs: callTimeoutMs * 2 }, 'write')

    const error = await failureOf(write(subject, disk), 'unavailable')
    const meanwhile = subject.tagsOf(disk)
    await subject.landed()

    expect([error.outcomeUnknown, meanwhile, subject.tagsOf(disk)]).to.deep.equal([true, {}, { team: 'core' }])
  },
  async slow(subject) {
    const disk = subject.addDisk()
    subject.inject({ kind: 'slow', byMs: 20 }, 'write')

    await write(subject, disk)

    expect(subject.tagsOf(disk)).to.deep.equal({ team: 'core' })
  },
  async garbage(subject) {
    const disk = subject.addDisk({ foreign: 'x' })
    const fault = subject.inject({ kind: 'garbage' }, 'read', 2)

    // What cannot be read is never an empty set.
    await failureOf(subject.provider.getTags(disk, callOptions()), 'unavailable')
    await failureOf(listed(subject, disk), 'unavailable')
    fault.clear()

    expect(await listed(subject, disk)).to.deep.equal([{ foreign: 'x' }])
  },
}

async function listed({ provider }: CloudSubject, disk: DiskRef): Promise<readonly object[]> {
  const found: object[] = []
  for await (const { observed } of provider.listTags([disk], callOptions()))
    found.push(Object.fromEntries(observed.tags))
  return found
}

async function denied(subject: CloudSubject): Promise<void> {
  const disk = subject.addDisk()
  subject.deny(disk)

  const error = await failureOf(write(subject, disk), 'denied')

  expect([error.outcomeUnknown, subject.tagsOf(disk)]).to.deep.equal([false, {}])
}

async function filled(subject: CloudSubject): Promise<void> {
  const disk = subject.addDisk()
  subject.fill(disk)

  await failureOf(write(subject, disk), 'invalid')

  expect(Object.keys(subject.tagsOf(disk))).not.to.include('team')
}

type Aws = Awaited<ReturnType<typeof startAws>>
const awsConditions: Readonly<Record<keyof typeof ec2Conditions, Check<Aws>>> = {
  deny: denied,
  fill: filled,
  async readLagMs(subject) {
    const disk = subject.addDisk()
    subject.fake.consistency({ readLagMs: 60_000 })

    await write(subject, disk)
    const { tags } = await subject.provider.getTags(disk, callOptions())

    expect([tags.size, subject.tagsOf(disk)]).to.deep.equal([0, { team: 'core' }])
    expect(subject.provider.readLagMs).to.be.at.least(60_000)
  },
  async youngVolumeMs(subject) {
    subject.fake.consistency({ youngVolumeMs: 60_000 })

    await failureOf(write(subject, subject.addDisk()), 'not-found')
  },
  async buckets(subject) {
    subject.fake.enforceBuckets(true)
    const disks = Array.from({ length: 150 }, () => subject.addDisk())

    await Promise.all(disks.map((disk) => write(subject, disk)))

    expect(subject.fake.count('CreateTags').throttled).to.equal(0)
  },
  namesMissing: (subject) => othersOfABatch(subject, (disk) => subject.removeDisk(disk), { namesMissing: false }),
  namesDenied: (subject) => othersOfABatch(subject, (disk) => subject.deny(disk), { namesDenied: true }),
}

/** Whether or not the refusal says which disk it is about, the others are written. */
async function othersOfABatch(
  subject: Aws,
  spoil: (disk: DiskRef) => void,
  messages: Parameters<Aws['fake']['messages']>[0],
): Promise<void> {
  subject.fake.messages(messages)
  const disks = Array.from({ length: 20 }, () => subject.addDisk())
  const [bad, ...good] = disks as [DiskRef, ...DiskRef[]]
  spoil(bad)

  const results = await Promise.allSettled(disks.map((disk) => write(subject, disk)))

  expect(results.map(({ status }) => status)).to.deep.equal(['rejected', ...good.map(() => 'fulfilled')])
}

type Gcp = Awaited<ReturnType<typeof startGcp>>
const gcpConditionChecks: Readonly<Record<keyof typeof gcpConditions, Check<Gcp>>> = {
  deny: denied,
  fill: filled,
  async operationsLastMs(subject) {
    const disk = subject.addDisk()
    subject.fake.operationsLast(60_000)

    await write(subject, disk)

    // The disk is not ready for another change until the first has taken effect.
    await failureOf(write(subject, disk), 'conflict')
  },
  async quota(subject) {
    const disk = subject.addDisk()
    subject.fake.enforceQuota(true, { mutation: 0 })

    const error = await failureOf(write(subject, disk), 'throttled')

    // It is a quarter past the minute, and the next one brings new calls.
    expect([error.code, error.retryAfterMs]).to.deep.equal(['rateLimitExceeded', 46_000])
  },
  async errorDetails(subject) {
    for (const details of [true, false]) {
      subject.fake.errorDetails = details
      await denied(subject)
    }
  },
  async metadataIsDown({ fake }) {
    const saved = process.env['GCE_METADATA_HOST']
    process.env['GCE_METADATA_HOST'] = fake.host
    const credentials = new DefaultCredentials({ clock: systemClock, timeoutMs: 5000 })
    try {
      fake.identity.metadataIsDown = true
      const failed = await rejectionOf(credentials.projectId())
      fake.identity.metadataIsDown = false

      expect(failed).to.be.instanceOf(NoCredentials)
      expect(await credentials.projectId()).to.equal('fake-project')
    } finally {
      if (saved === undefined) delete process.env['GCE_METADATA_HOST']
      else process.env['GCE_METADATA_HOST'] = saved
    }
  },
}

type Azure = Awaited<ReturnType<typeof startAzure>>
const azureConditionChecks: Readonly<Record<keyof typeof azureConditions, Check<Azure>>> = {
  deny: denied,
  async denyReads(subject) {
    const disk = subject.addDisk()
    subject.fake.denyReads([disk.id])

    await failureOf(subject.provider.getTags(disk, callOptions()), 'denied')
  },
  async lockDown(subject) {
    const disk = subject.addDisk()
    subject.fake.lockDown('MC_demo_aks_westeurope')

    const error = await failureOf(write(subject, disk), 'denied')

    expect([error.code, subject.tagsOf(disk)]).to.deep.equal(['DenyAssignmentAuthorizationFailed', {}])
  },
  async lock(subject) {
    const disk = subject.addDisk()
    subject.fake.lock(disk.id)
    expect((await failureOf(write(subject, disk), 'denied')).code).to.equal('ScopeLocked')
    subject.fake.unlock(disk.id)

    await write(subject, disk)

    expect(subject.tagsOf(disk)).to.deep.equal({ team: 'core' })
  },
  fill: filled,
  async readLagMs(subject) {
    const disk = subject.addDisk()
    subject.fake.consistency({ readLagMs: 60_000 })

    await write(subject, disk)
    const { tags } = await subject.provider.getTags(disk, callOptions())

    expect([tags.size, subject.tagsOf(disk)]).to.deep.equal([0, { team: 'core' }])
  },
  async graphLagMs(subject) {
    const disk = subject.addDisk()
    subject.fake.consistency({ graphLagMs: 60_000 })

    await write(subject, disk)

    expect(await listed(subject, disk)).to.deep.equal([])
    expect(subject.provider.readLagMs).to.be.at.least(60_000)
  },
  async buckets(subject) {
    subject.fake.enforceBuckets(true)
    const disks = Array.from({ length: 100 }, () => subject.addDisk())

    await Promise.all(disks.map((disk) => write(subject, disk)))

    expect(subject.fake.count('MergeTags').throttled).to.equal(0)
  },
  async remaining(subject) {
    const rate = () => subject.provider.status().flatMap(({ budgets }) => budgets.map((each) => each.ratePerSecond))
    const disk = subject.addDisk()
    await subject.provider.getTags(disk, callOptions())
    const before = rate()
    subject.fake.remaining({ 'x-ms-ratelimit-remaining-subscription-writes': '1' })

    await write(subject, disk)

    expect(rate().reduce((sum, each) => sum + each, 0)).to.be.below(before.reduce((sum, each) => sum + each, 0))
  },
  async acceptWrites(subject) {
    for (const accepts of [true, false]) {
      const disk = subject.addDisk()
      subject.fake.acceptWrites(accepts)

      await write(subject, disk)

      expect(subject.tagsOf(disk)).to.deep.equal({ team: 'core' })
    }
    expect(subject.callsOf('write')).to.equal(2)
  },
}

/** A cloud's tables, and a check for each of their rows. */
function describeFaults<Subject extends CloudSubject>(
  name: string,
  start: (options: CloudSubjectOptions) => Promise<Subject>,
  parts: {
    readonly faults: Readonly<Record<string, string>>
    readonly faultChecks: Readonly<Record<string, Check<Subject>>>
    readonly conditions: Readonly<Record<string, string>>
    readonly conditionChecks: Readonly<Record<string, Check<Subject>>>
  },
): void {
  describe(`what can go wrong on ${name}`, () => {
    let subject: Subject

    beforeEach(async () => {
      subject = await start({ callTimeoutMs })
    })

    afterEach(() => subject.stop())

    function describeTable(what: string, table: object, checks: Readonly<Record<string, Check<Subject>>>): void {
      it(`has a test for each ${what}`, () => {
        expect(Object.keys(checks)).to.have.members(Object.keys(table))
      })
      for (const [row, meaning] of Object.entries(table)) {
        const check = checks[row]
        if (check !== undefined) it(`${row}: ${meaning}`, () => check(subject))
      }
    }

    describeTable('fault', parts.faults, parts.faultChecks)
    describeTable('condition', parts.conditions, parts.conditionChecks)
  })
}

describeFaults('aws', startAws, {
  faults: ec2Faults,
  faultChecks: commonChecks,
  conditions: ec2Conditions,
  conditionChecks: awsConditions,
})

describeFaults('gcp', startGcp, {
  faults: gcpFaults,
  faultChecks: {
    ...commonChecks,
    async 'failed-operation'(subject: Gcp) {
      const disk = subject.addDisk()
      const failure = { kind: 'failed-operation', status: 412, code: 'CONDITION_NOT_MET' } as const
      subject.fake.inject(failure, { operation: 'setLabels' })

      const error = await failureOf(write(subject, disk), 'conflict')

      expect([error.code, subject.tagsOf(disk)]).to.deep.equal(['CONDITION_NOT_MET', {}])
    },
  },
  conditions: gcpConditions,
  conditionChecks: gcpConditionChecks,
})

describeFaults('azure', startAzure, {
  faults: azureFaults,
  faultChecks: {
    ...commonChecks,
    async error(subject: Azure) {
      await commonChecks.error(subject)
      const disk = subject.addDisk()
      subject.fake.inject({ kind: 'error', status: 403 }, { operation: 'MergeTags' })

      // A proxy's page says nothing about our rights.
      expect((await failureOf(write(subject, disk), 'unavailable')).code).to.equal('HTTP 403')
    },
  },
  conditions: azureConditions,
  conditionChecks: azureConditionChecks,
})
