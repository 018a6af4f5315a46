/** What CHANGELOG.md says about a version: the text below its heading `## x.y.z`. Throws where there is none, or no text. */
export function changesOf(changelog: string, version: string): string {
  const lines = changelog.split('\n')
  const start = lines.indexOf(`## ${version}`)
  if (start === -1) throw new Error(`CHANGELOG.md has no heading "## ${version}": say first what changes for users`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith('## '))
  const text = (end === -1 ? rest : rest.slice(0, end)).join('\n').trim()
  if (text === '') throw new Error(`CHANGELOG.md says nothing below "## ${version}"`)
  return text
}
