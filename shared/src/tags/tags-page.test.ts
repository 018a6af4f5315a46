import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { claim as aClaim } from '../../testing/builders.ts'
import { rulesOf } from '../../testing/tagging-rules.ts'
import { parseConfig } from '../config/load-config.ts'
import { normalize } from '../providers/aws/normalize.ts'
import { ownForm } from './tag-form.ts'
import { wishFor } from './wish.ts'

interface Example {
  readonly config: { readonly tags?: { readonly allowedKeys?: readonly string[] } }
  readonly claim: Parameters<typeof aClaim>[0]
  readonly namespace?: Record<string, string>
  readonly tags?: Record<string, string>
  readonly problems?: readonly string[]
  readonly 'left alone'?: string
}

const page = readFileSync(new URL('../../../docs/tags.md', import.meta.url), 'utf8')

/** The YAML blocks, each under the heading before it. */
function* examplesOf(text: string): Iterable<{ readonly title: string; readonly yaml: string }> {
  let title = ''
  for (const [, heading, yaml] of text.matchAll(/^#+ (.+)$|^```yaml\n([\s\S]*?)^```$/gm)) {
    if (yaml === undefined) title = heading ?? ''
    else yield { title, yaml }
  }
}

const examples = [...examplesOf(page)]

describe('the examples of docs/tags.md', () => {
  for (const { title, yaml } of examples) {
    it(`hold: ${title}`, () => {
      const { config, claim, namespace = {}, tags, problems = [], ...rest } = parse(yaml) as Example
      const rules = rulesOf(config)
      const allowedKeys = new Set(parseConfig(JSON.stringify(config)).tags.allowedKeys)
      const sources = {
        claim: aClaim(claim),
        namespace: { name: 'n', uid: 'n', resourceVersion: '1', labels: namespace, deleting: false },
      }

      expect(rules.outOfScope(sources)).to.equal(rest['left alone'])
      if (tags === undefined) return
      const wish = wishFor(sources, rules, (desired, enforced) =>
        normalize(desired, { enforced, form: { ...ownForm, allowedKeys } }),
      )
      expect(Object.fromEntries(wish.tags)).to.deep.equal(tags)
      expect(wish.problems.map(({ kind }) => kind)).to.deep.equal(problems)
    })
  }

  it('are as many as the rules', () => {
    expect(examples.length).to.be.at.least(14)
  })
})
