import { foldedName } from './tag-names.ts'

/** In the sources of the Azure disk CSI driver: its own mark on a disk. */
const protectedKeys: ReadonlySet<string> = new Set(['k8s-azure-created-by'].map(foldedName))

/** The CSI driver's names of volume and claim, AKS's own, and what the portal hides or reads as a link or a title. */
const protectedPrefixes: readonly string[] = ['kubernetes.io-created-for-', 'aks-managed-', 'hidden-'].map(foldedName)

/** Azure refuses names that begin so, in any case, and no configuration can change that. */
const reservedPrefixes: readonly string[] = ['microsoft', 'azure', 'windows'].map(foldedName)

export function isReserved(key: string): boolean {
  return beginsWithOneOf(reservedPrefixes, foldedName(key))
}

/** See `DiskProvider.isProtectedKey`. Keys in `optedIn`, in whatever case, are the user's own wish. */
export function isProtectedKey(key: string, optedIn: ReadonlySet<string> = new Set()): boolean {
  const name = foldedName(key)
  if (beginsWithOneOf(reservedPrefixes, name)) return true
  if (!protectedKeys.has(name) && !beginsWithOneOf(protectedPrefixes, name)) return false
  return !isAllowed(key, optedIn)
}

/** In whatever case it was opted in. */
export function isAllowed(key: string, optedIn: ReadonlySet<string>): boolean {
  return optedIn.has(key) || Array.from(optedIn, foldedName).includes(foldedName(key))
}

function beginsWithOneOf(prefixes: readonly string[], name: string): boolean {
  return prefixes.some((prefix) => name.startsWith(prefix))
}
