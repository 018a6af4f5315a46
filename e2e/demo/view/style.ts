/** Applied to text that has its final width already. */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
}

const same = (text: string) => text

export const plainStyle: Style = { bold: same, dim: same, good: same, bad: same }

export const colourStyle: Style = {
  bold: (text) => `\u001B[1m${text}\u001B[22m`,
  dim: (text) => `\u001B[2m${text}\u001B[22m`,
  good: (text) => `\u001B[32m${text}\u001B[39m`,
  bad: (text) => `\u001B[31m${text}\u001B[39m`,
}
