import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { stringify } from 'yaml'
import { objectsOf, type RenderedObject, type RenderOptions } from './helm.ts'
import type { ChartTools } from './tools.ts'

/** The values of one identity, by the part of their file's name. */
export function identityValues(name: string): string {
  return path.join(import.meta.dirname, 'values', `identity-${name}.yaml`)
}

export async function render({ helm4 }: ChartTools, options: RenderOptions): Promise<readonly RenderedObject[]> {
  return objectsOf(await helm4.render(options))
}

/** With values of this run, which win over the files'. */
export async function renderWith(
  tools: ChartTools,
  more: object,
  options: RenderOptions = {},
): Promise<readonly RenderedObject[]> {
  const file = path.join(tools.scratch, 'identity.yaml')
  await writeFile(file, stringify(more))
  return render(tools, { ...options, values: [...(options.values ?? []), file] })
}
