import { configSchema } from '@k8s-cloud-tagger/shared/config/config-schema.ts'
import { matching, type Schema } from './chart-schema-parts.ts'

const clouds = configSchema.properties.cloudProvider.enum

/** The programs take a cloud's name in any case; a schema says that by one pattern, since enums know no case. */
export const cloudProvider: Schema = {
  ...matching(`(${clouds.map(inAnyCase).join('|')})`),
  description: configSchema.properties.cloudProvider.description,
}

/** The `config` part of the values: the programs' own schema. */
export function configValues(): Schema {
  const { properties } = configSchema
  return { ...configSchema, properties: { ...properties, cloudProvider } }
}

function inAnyCase(word: string): string {
  return word.replace(/[a-z]/gu, (letter) => `[${letter.toUpperCase()}${letter}]`)
}
