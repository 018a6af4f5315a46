import packageJson from '../../package.json' with { type: 'json' }

/** The product's version; all packages carry the same one. */
export const version: string = packageJson.version
