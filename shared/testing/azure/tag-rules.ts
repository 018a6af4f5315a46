import { ArmFault } from './arm-fault.ts'

export const tagsPerResource = 50
const nameLengthMax = 512
const valueLengthMax = 256
const reserved = /^(?:microsoft|azure|windows)/i

/** Names that are equal so are one tag. */
export function foldedName(name: string): string {
  return name.toLowerCase()
}

/** Refuses what Azure refuses: one bad tag costs the whole request. */
export function checkTag(name: string, value: string): void {
  if (name === '' || name.length > nameLengthMax) {
    throw new ArmFault(400, 'InvalidTagNameLength', `A tag name has 1 to ${nameLengthMax} characters.`)
  }
  if (/[<>%&\\?/\p{Cc}]/u.test(name)) {
    throw new ArmFault(400, 'InvalidTagNameCharacters', `The tag name '${name}' has reserved characters.`)
  }
  if (reserved.test(name)) {
    throw new ArmFault(400, 'InvalidTagName', `The tag name '${name}' begins with a reserved prefix.`)
  }
  if (value.length > valueLengthMax) {
    throw new ArmFault(
      400,
      'InvalidTagValueLength',
      `The value of '${name}' has more than ${valueLengthMax} characters.`,
    )
  }
}
