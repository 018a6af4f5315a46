import { expect } from 'chai'
import type { Act } from './acts/act.ts'
import { actTable, figureLines, verdictLines } from './summary.ts'
import { plainStyle } from './view/style.ts'

const room = { width: 60, style: plainStyle }

function act(title: string, expectation: string): Act {
  return { title, expectation, words: '', concerns: [], withinMs: 0, play: async () => {}, outcome: () => '' }
}

describe('the summary', () => {
  it('says for each act what was expected and whether it was so', () => {
    const lines = actTable(
      [
        { act: act('Start', 'nothing is written'), problems: [], outcome: '' },
        {
          act: act('Stop', 'a long expectation that takes more than the one line it has'),
          problems: ['x'],
          outcome: '',
        },
      ],
      room,
    )

    expect(lines).to.deep.equal([
      'ACT      WHAT WAS EXPECTED',
      '1 Start  nothing is written                              ok',
      '2 Stop   a long expectation that takes more than the     NOT',
      '         one line it has',
    ])
  })

  it('gives calls, calls for each change, and medians, leaving out what did not happen', () => {
    const lines = figureLines(
      {
        calls: [{ kind: 'CreateTags', calls: 3, disks: 40 }],
        kubernetes: [
          { program: 'webhook', calls: 50, writes: 10 },
          { program: 'reconciler', calls: 4, writes: 0 },
        ],
        medians: [
          { what: 'bind to tag', medianMs: 118, count: 4 },
          { what: 'label to tag', medianMs: undefined, count: 0 },
        ],
        cloudLatencyMs: 100,
      },
      { width: 100, style: plainStyle },
    )

    expect(lines).to.deep.equal([
      'Calls to EC2      3 CreateTags (40 disks)',
      'Kubernetes calls  for each change of a disk 5.0 by the webhook (50 : 10)',
      'Webhook, median   bind to tag 118 ms (of 4); EC2 answers in 100 ms',
    ])
  })

  it('is content only where disks, acts and programs are all right', () => {
    const good = verdictLines({ disks: 47, wrongDisks: 0, problems: [] }, 0, plainStyle)
    const wrongDisk = verdictLines({ disks: 47, wrongDisks: 1, problems: [] }, 0, plainStyle)
    const failedAct = verdictLines({ disks: 47, wrongDisks: 0, problems: [] }, 1, plainStyle)
    const crashed = verdictLines(
      { disks: 47, wrongDisks: 0, problems: ['webhook-1 ended with SIGKILL'] },
      0,
      plainStyle,
    )

    expect(good).to.deep.equal(['All 47 disks ended right.'])
    expect(wrongDisk).to.deep.equal(['Not right: 1 of 47 disks ended wrong; every act went as it should.'])
    expect(failedAct).to.deep.equal(['Not right: all 47 disks ended right; 1 act did not go as it should.'])
    expect(crashed[0]).to.equal('NOT webhook-1 ended with SIGKILL')
  })
})
