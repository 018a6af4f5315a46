import { expect } from 'chai'
import fc from 'fast-check'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import { parseConfig } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { rulesFor } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
import { normalize as aws } from '@k8s-cloud-tagger/shared/providers/aws/normalize.ts'
import { normalize as azure } from '@k8s-cloud-tagger/shared/providers/azure/normalize.ts'
import { normalize as gcp } from '@k8s-cloud-tagger/shared/providers/gcp/normalize.ts'
import type { Normalize } from '@k8s-cloud-tagger/shared/tags/wish.ts'
import { freeWish, labelWish } from '@k8s-cloud-tagger/shared/testing/label-arbitraries.ts'
import { judgeFor } from '../admission-policy.ts'
import type { Judgement } from './judge.ts'
import type { ReviewedClaim } from './review.ts'
import { denialLengthMax, warningLengthMax, warningsMax } from './wording.ts'

const clouds: Readonly<Record<string, Normalize>> = {
  aws: (desired) => aws(desired),
  azure: (desired) => azure(desired),
  gcp: (desired) => gcp(desired),
}

function reviewed(overrides: Partial<ReviewedClaim> = {}): ReviewedClaim {
  return {
    namespace: 'db',
    name: 'data-0',
    uid: 'claim-uid-1',
    resourceVersion: '12',
    volumeName: undefined,
    storageClassName: 'gp3',
    labels: {},
    annotations: {},
    hasLabels: true,
    deleting: false,
    ...overrides,
  }
}

function namespaceWith(labels: Readonly<Record<string, string>>): NamespaceInfo {
  return { name: 'db', uid: 'namespace-uid', resourceVersion: '1', labels, deleting: false }
}

interface Case {
  readonly config?: object
  readonly cloud?: string
  readonly object?: Partial<ReviewedClaim>
  readonly oldObject?: Partial<ReviewedClaim>
  readonly namespace?: NamespaceInfo
}

function judged({ config = {}, cloud = 'aws', object, oldObject, namespace }: Case): Judgement {
  const parsed = parseConfig(JSON.stringify(config))
  const judge = judgeFor(parsed, rulesFor(parsed), clouds[cloud] ?? ((tags) => ({ tags, problems: [] })))
  const write = { object: reviewed(object), oldObject: oldObject && reviewed(oldObject) }
  return judge.judge(write, namespace)
}

const denyAll = {
  problems: Object.fromEntries(
    [
      'protectedKey',
      'invalidKey',
      'invalidValue',
      'changedKey',
      'changedValue',
      'collision',
      'overLimit',
      'deniedValue',
      'enforced',
      'invalidAnnotation',
      'invalidTemplate',
      'missingLabel',
    ].map((name) => [name, 'deny']),
  ),
}
const kept = { 'kubernetes.io/x': 'y' }

describe('ClaimJudge warns', () => {
  for (const [what, input, warnings] of [
    ['not of what arrives as it is', { object: { labels: { team: 'core', 'app.kubernetes.io/name': 'db' } } }, []],
    [
      'of a key that belongs to others',
      { object: { labels: kept } },
      ['disk tags: label kubernetes.io/x is left out: '],
    ],
    [
      'of a key that has to be changed, with what it becomes',
      { cloud: 'azure', object: { labels: { 'example.com/team': 'core' } } },
      ['disk tags: label example.com/team becomes example.com:team: '],
    ],
    [
      'of key and value that have to be changed',
      { cloud: 'gcp', object: { labels: { 'example.com/Team': 'Core' } } },
      [
        'disk tags: label example.com/Team becomes example_com_team: ',
        'disk tags: the value of label example.com/Team becomes core: ',
      ],
    ],
    [
      'of two labels that meet',
      { cloud: 'azure', object: { labels: { team: 'a', Team: 'b' } } },
      ['disk tags: label team is left out: '],
    ],
    [
      'of a value on the deny list',
      { config: { tags: { denyValues: ['undefined'] } }, object: { labels: { team: 'undefined' } } },
      ['disk tags: label team is left out: the value is on the deny list (tags.denyValues)'],
    ],
    [
      'of a tag that is enforced, with its value',
      { config: { tags: { enforced: { team: 'core' } } }, object: { labels: { team: 'mine' } } },
      ['disk tags: label team is left out: the tag team is enforced; it stays core'],
    ],
    [
      'of an annotation that cannot be read, and what that means',
      { config: { tags: { claimTags: true } }, object: { annotations: { 'k8s-cloud-tagger/tags': '{"a":' } } },
      [
        'disk tags: annotation k8s-cloud-tagger/tags is left out: it is no valid JSON; the tags that are there stay as they are',
      ],
    ],
    [
      'of a template that needs what the claim does not have',
      { config: { tags: { enforced: { cost: '{{ .Labels.team }}' } } } },
      ['disk tags: tag cost is left out: the template needs .Labels "team", which is not there'],
    ],
    [
      'F4, F6: of a label that is required',
      { config: { admission: { requiredLabels: ['team'] } } },
      ['disk tags: label team: it is required and missing'],
    ],
    [
      'of what annotations and own tags ask for',
      {
        config: { tags: { claimTags: true, annotations: { include: ['note'] } } },
        object: { annotations: { note: '\u0001', 'k8s-cloud-tagger/tags': '{"Name":"x"}' } },
      },
      ['disk tags: tag Name is left out: ', 'disk tags: annotation note is left out: '],
    ],
    [
      'not of what the config or the namespace brought, since nobody who applies a claim can mend it',
      {
        config: { tags: { defaults: { Name: 'x' }, namespaceLabels: { include: ['*'] } } },
        namespace: namespaceWith(kept),
      },
      [],
    ],
    [
      'not where the kind is off',
      { config: { admission: { problems: { protectedKey: 'off' } } }, object: { labels: kept } },
      [],
    ],
    ['not of a claim that is being deleted', { object: { labels: kept, deleting: true } }, []],
    [
      'not of a claim out of scope',
      { config: { scope: { namespaces: { exclude: ['db'] } } }, object: { labels: kept } },
      [],
    ],
    [
      'not of a claim of another storage class',
      { config: { scope: { storageClasses: { include: ['io2'] } } }, object: { labels: kept } },
      [],
    ],
    [
      'not of a claim that opted out',
      {
        config: { tags: { optOut: true } },
        object: { labels: kept, annotations: { 'k8s-cloud-tagger/ignore': 'true' } },
      },
      [],
    ],
  ] as const satisfies readonly (readonly [string, Case, readonly string[]])[]) {
    it(what, () => {
      const judgement = judged(input)

      expect(judgement.warnings).to.have.length(warnings.length)
      // A cloud's reasons are its own affair.
      const known = judgement.warnings.map((warning, i) => warning.slice(0, openEnd(warnings[i] ?? '')))
      expect(known).to.deep.equal([...warnings])
      expect(judgement.denial).to.equal(undefined)
      expect(judgement.told.every(({ verdict }) => verdict === 'warn')).to.equal(true)
    })
  }
})

/** Where what is expected ends, if a reason is to follow. */
function openEnd(expected: string): number | undefined {
  return expected.endsWith(': ') ? expected.length : undefined
}

/** An update of a claim whose labels and annotations stay, with problems of every sort under rules that deny them all. */
const bad = {
  labels: { ...kept, team: 'undefined', long: 'x' },
  annotations: { note: 'x'.repeat(300), 'k8s-cloud-tagger/tags': '{' },
}
const strict = {
  admission: { ...denyAll, requiredLabels: ['owner'] },
  tags: {
    denyValues: ['undefined'],
    annotations: { include: ['*'] },
    claimTags: true,
    enforced: { long: 'y', cost: '{{ .Labels.owner }}' },
  },
}

describe('ClaimJudge, where everything is denied,', () => {
  it('refuses a new claim by one message that names each thing, why, and what would be taken', () => {
    const { denial, warnings } = judged({ config: strict, object: bad })

    expect(warnings).to.deep.equal([])
    const parts = (denial ?? '').split(/(?<=\)); /)
    for (const [i, [start, end]] of [
      ['the rules for disk tags do not allow label owner: it is required and missing', '(add it)'],
      ['label team: the value is on the deny list (tags.denyValues)', '(use another value)'],
      [
        'annotation k8s-cloud-tagger/tags: it is no valid JSON; the tags that are there stay as they are',
        '(write a JSON map, or key=value,key=value)',
      ],
      ['tag cost: the template needs .Labels "owner", which is not there', '(add what the template needs)'],
      ['label long: the tag long is enforced; it stays y', '(leave it out, or give it that value)'],
      ['label kubernetes.io/x: ', '(use another key)'],
      ['annotation note: ', '(use a value that needs no change)'],
    ].entries()) {
      expect(parts[i]?.startsWith(start ?? ''), parts[i]).to.equal(true)
      expect(parts[i]?.endsWith(end ?? ''), parts[i]).to.equal(true)
    }
    expect(parts).to.have.length(7)
  })

  for (const [what, change, before] of [
    ['a bind', { volumeName: 'pv-1' }, {}],
    [
      'a bind with the annotations that it brings',
      {
        volumeName: 'pv-1',
        annotations: {
          ...bad.annotations,
          'pv.kubernetes.io/bind-completed': 'yes',
          'pv.kubernetes.io/bound-by-controller': 'yes',
        },
      },
      {},
    ],
    [
      'what scheduler and provisioner write',
      {
        annotations: {
          ...bad.annotations,
          'volume.kubernetes.io/selected-node': 'node-1',
          'volume.kubernetes.io/storage-provisioner': 'ebs.csi.aws.com',
          'volume.beta.kubernetes.io/storage-provisioner': 'ebs.csi.aws.com',
        },
      },
      {},
    ],
    ['a resize, or a finalizer that goes', { resourceVersion: '13' }, {}],
    ['its deletion', { deleting: true, labels: {} }, {}],
    ['a change while it is being deleted', { deleting: true }, { deleting: true, labels: {} }],
  ] as const satisfies readonly (readonly [string, Partial<ReviewedClaim>, Partial<ReviewedClaim>])[]) {
    it(`says nothing to ${what}`, () => {
      const silent = judged({ config: strict, object: { ...bad, ...change }, oldObject: { ...bad, ...before } })

      expect(silent).to.deep.equal({ warnings: [], denial: undefined, told: [] })
    })
  }

  it('lets a claim from before the rules be edited elsewhere, and warns of all that is wrong with it', () => {
    const object = { ...bad, labels: { ...bad.labels, fine: 'too' } }

    const { denial, warnings, told } = judged({ config: strict, object, oldObject: bad })

    expect(denial).to.equal(undefined)
    expect(warnings).to.have.length(7)
    expect(new Set(told.map(({ verdict }) => verdict))).to.deep.equal(new Set(['warn']))
  })

  for (const [what, object, oldObject, refused] of [
    ['takes a required label off', { labels: {} }, { labels: { owner: 'x' } }, ['label owner', 'tag cost']],
    [
      'gives a bad label another bad value',
      { labels: { owner: 'x', team: 'undefined' } },
      { labels: { owner: 'x', team: 'core' } },
      ['label team'],
    ],
    [
      'changes the value of a label that may not be',
      { labels: { owner: 'x', 'kubernetes.io/x': 'new' } },
      { labels: { owner: 'x', 'kubernetes.io/x': 'old' } },
      ['label kubernetes.io/x'],
    ],
    [
      'exchanges one unreadable annotation for another',
      { labels: { owner: 'x' }, annotations: { 'k8s-cloud-tagger/tags': '{' } },
      { labels: { owner: 'x' }, annotations: { 'k8s-cloud-tagger/tags': '{"' } },
      ['annotation k8s-cloud-tagger/tags'],
    ],
    [
      'adds one bad tag of its own to another',
      { labels: { owner: 'x' }, annotations: { 'k8s-cloud-tagger/tags': '{"Name":"a","eks:b":"c"}' } },
      { labels: { owner: 'x' }, annotations: { 'k8s-cloud-tagger/tags': '{"Name":"a"}' } },
      ['tag eks:b'],
    ],
    ['mends one thing of several', { labels: { owner: 'x', ...kept } }, { labels: kept }, []],
  ] as const satisfies readonly (readonly [
    string,
    Partial<ReviewedClaim>,
    Partial<ReviewedClaim>,
    readonly string[],
  ])[]) {
    it(`refuses ${refused.length === 0 ? 'nothing' : refused.join()} of an update that ${what}`, () => {
      const { denial = '' } = judged({ config: strict, object, oldObject })

      const named = [...denial.matchAll(/(?:label|annotation|tag) [^ ]+(?=: )/g)].map(([name]) => name)
      expect(named).to.deep.equal(refused)
    })
  }

  it('refuses nothing where it only reports, and warns instead', () => {
    const { denial, warnings, told } = judged({ config: { ...strict, reportOnly: true }, object: bad })

    expect(denial).to.equal(undefined)
    expect(warnings).to.have.length(7)
    expect(told.every(({ verdict }) => verdict === 'warn')).to.equal(true)
  })

  it('refuses only the kinds that are denied, and warns of the rest', () => {
    const admission = { problems: { deniedValue: 'deny' } }

    const { denial, warnings } = judged({ config: { ...strict, admission }, object: bad })

    expect(denial).to.match(/do not allow label team: [^;]*$/)
    expect(warnings).to.have.length(5)
    expect(warnings.join()).to.not.include('team')
  })
})

describe('ClaimJudge, of a namespace that nobody knows in time,', () => {
  const cost = { tags: { enforced: { cost: '{{ .NamespaceLabels.cost }}' } } }

  it('tells what does not depend on it', () => {
    expect(judged({ config: cost, object: { labels: kept } }).warnings).to.have.length(1)
    expect(judged({ config: cost, object: { labels: kept }, namespace: namespaceWith({}) }).warnings).to.have.length(2)
  })

  it('tells nothing where it decides what is managed at all', () => {
    const config = { scope: { namespaceSelector: '!legacy' }, admission: denyAll }

    expect(judged({ config, object: { labels: kept } }).denial).to.equal(undefined)
    expect(judged({ config, object: { labels: kept }, namespace: namespaceWith({}) }).denial).to.not.equal(undefined)
    expect(judged({ config, object: { labels: kept }, namespace: namespaceWith({ legacy: '' }) })).to.deep.equal({
      warnings: [],
      denial: undefined,
      told: [],
    })
  })
})

describe('ClaimJudge, whatever a claim holds,', () => {
  const anyClaim = fc
    .record({ labels: fc.oneof(labelWish, freeWish), annotations: freeWish, own: fc.oneof(freeWish, fc.string()) })
    .map(({ labels, annotations, own }) => {
      const text = typeof own === 'string' ? own : JSON.stringify(Object.fromEntries(own))
      return {
        labels: Object.fromEntries(labels),
        annotations: { ...Object.fromEntries(annotations), 'k8s-cloud-tagger/tags': text },
      }
    })
  const anyCloud = fc.constantFrom(...Object.keys(clouds))
  const verdicts = { ...strict, tags: { ...strict.tags, rename: { app: 'team' } } }

  it('keeps each warning to 120 characters, all of them to ten, and a refusal to 2,100, in printable text', () => {
    fc.assert(
      fc.property(anyClaim, anyCloud, fc.boolean(), (object, cloud, reportOnly) => {
        const { warnings, denial = '' } = judged({ config: { ...verdicts, reportOnly }, cloud, object })

        expect(warnings.length).to.be.at.most(warningsMax)
        for (const warning of warnings) expect(warning.length).to.be.at.most(warningLengthMax)
        expect(denial.length).to.be.at.most(denialLengthMax + 100)
        for (const text of [...warnings, denial]) {
          expect(text.isWellFormed()).to.equal(true)
          expect(text).to.not.match(/\p{Cc}/u)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('says the rest is more, where there is more', () => {
    const labels = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`eks:${'x'.repeat(40)}-${i}`, 'y']))
    const { warnings } = judged({ object: { labels } })
    const { denial = '' } = judged({ config: { admission: denyAll }, object: { labels } })

    expect(warnings).to.have.length(10)
    expect(warnings.at(-1)).to.equal('disk tags: and 191 more')
    expect(denial).to.match(/; and \d+ more$/)
    const named = denial.match(/label eks:/g)?.length ?? 0
    expect(denial).to.include(`and ${200 - named} more`)
    expect(named).to.be.above(20)
  })

  it('never refuses or warns of a bind', () => {
    fc.assert(
      fc.property(anyClaim, anyCloud, (claim, cloud) => {
        const annotations = { ...claim.annotations, 'pv.kubernetes.io/bind-completed': 'yes' }
        const object = { ...claim, annotations, volumeName: 'pv-1' }

        expect(judged({ config: verdicts, cloud, object, oldObject: claim }).told).to.deep.equal([])
      }),
    )
  })

  it('never refuses an update that adds what no rule minds', () => {
    fc.assert(
      fc.property(anyClaim, anyCloud, (claim, cloud) => {
        const rules = { ...verdicts, tags: { ...verdicts.tags, labels: { exclude: ['unminded'] } } }
        const object = { ...claim, labels: { ...claim.labels, unminded: 'x' } }

        expect(judged({ config: rules, cloud, object, oldObject: claim }).denial).to.equal(undefined)
      }),
    )
  })
})
