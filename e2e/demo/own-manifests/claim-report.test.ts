import { expect } from 'chai'
import type { KubeObject } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import { claimEntry } from '../view/entry-for-tests.ts'
import { plainStyle } from '../view/style.ts'
import { claimReport } from './claim-report.ts'

const room = { width: 80, style: plainStyle }

function event(type: string, note: string): KubeObject {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'e', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    type,
    reason: 'TagsSkipped',
    note,
    regarding: { namespace: 'shop', name: 'orders' },
  }
}

describe('the report on claims', () => {
  it('lists the tags that a disk got, by whom and how soon', () => {
    expect(claimReport([claimEntry()], [], room)).to.deep.equal([
      'shop/orders  vol-12345678 (webhook-1, 118 ms after the bind)',
      '    app=orders',
      '    team=checkout',
    ])
  })

  it('tells once what the owner was warned of, and nothing of what went well', () => {
    const events = [event('Warning', 'left out'), event('Warning', 'left out'), event('Normal', 'set')]

    const lines = claimReport([claimEntry({ labels: {}, tags: {} })], events, room)

    expect(lines).to.deep.equal([
      'shop/orders  vol-12345678, no labels and so no tags',
      '    Event TagsSkipped: left out',
    ])
  })

  it('says why a claim got nothing', () => {
    const nothing = { disk: undefined, tags: {}, door: undefined, lastWrite: undefined }

    const lines = claimReport(
      [
        claimEntry({ ...nothing, reason: 'not bound yet' }),
        claimEntry({ ...nothing, reason: 'skipped: the volume is of another claim' }),
      ],
      [],
      room,
    )

    expect(lines).to.deep.equal([
      'shop/orders  not bound: none of your volumes fits, and its class makes none',
      'shop/orders  skipped: the volume is of another claim',
    ])
  })
})
