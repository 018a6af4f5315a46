import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'

const folder = path.join(import.meta.dirname, '..', '..', '.github', 'workflows')

interface Workflow {
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly { readonly uses?: string }[] }>>
}

describe('the workflows', () => {
  for (const file of readdirSync(folder)) {
    const text = readFileSync(path.join(folder, file), 'utf8')
    const workflow = parse(text) as Workflow

    it(`run only actions whose content is fixed: ${file}`, () => {
      const steps = Object.values(workflow.jobs).flatMap(({ steps = [] }) => steps)
      const actions = steps.flatMap(({ uses = [] }) => uses)

      expect(actions).not.to.deep.equal([])
      expect(actions.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/u.test(action))).to.deep.equal([])
    })

    it(`may only read, unless a job says why not: ${file}`, () => {
      expect(workflow.permissions).to.deep.equal({ contents: 'read' })
    })
  }
})
