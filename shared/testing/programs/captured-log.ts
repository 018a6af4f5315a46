import type { Logger } from '../../src/runtime/logger.ts'

export interface CapturedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: object
}

/** Keeps what is logged, for tests that count lines. */
export class CapturedLog implements Logger {
  readonly lines: CapturedLine[] = []

  debug(fields: object, message: string): void {
    this.lines.push({ level: 'debug', message, fields })
  }

  info(fields: object, message: string): void {
    this.lines.push({ level: 'info', message, fields })
  }

  warn(fields: object, message: string): void {
    this.lines.push({ level: 'warn', message, fields })
  }

  error(fields: object, message: string): void {
    this.lines.push({ level: 'error', message, fields })
  }

  child(): Logger {
    return this
  }

  /** The messages of one level, oldest first. */
  at(level: CapturedLine['level']): readonly string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message)
  }
}
