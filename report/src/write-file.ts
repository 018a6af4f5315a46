import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { UsageError } from './usage-error.ts'

/**
 * Whoever looks at the path sees the former file or the whole new one. In one go, so that an interruption leaves nothing
 * behind. Throws UsageError where it cannot be written.
 */
export function writeWhole(path: string, text: Iterable<string>): void {
  try {
    // A device or a pipe cannot be replaced.
    const isReplaced = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true
    if (isReplaced) replaceFile(path, text)
    else writeInto(path, text)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UsageError(`--file ${path}: cannot be written (${reason})`)
  }
}

function replaceFile(path: string, text: Iterable<string>): void {
  const scratch = `${path}.${process.pid}.part`
  try {
    writeInto(scratch, text)
    renameSync(scratch, path)
  } finally {
    rmSync(scratch, { force: true })
  }
}

function writeInto(path: string, text: Iterable<string>): void {
  const file = openSync(path, 'w')
  try {
    for (const part of text) writeSync(file, part)
  } finally {
    closeSync(file)
  }
}
