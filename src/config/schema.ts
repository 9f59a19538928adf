/** The JSON Schema of the configuration file, for editors. It says no more than the table does. */
import type { JsonSchema } from './kinds.ts'
import { defaultOf, sections, type Option, type Section } from './options.ts'

/** Draft 7 is what the YAML support of editors understands best. */
export function configSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of Tiptoe',
    ...sectionSchema(sections()),
  }
}

function sectionSchema(section: Section): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  for (const [key, inner] of section) {
    properties[key] = inner instanceof Map ? { ...sectionSchema(inner), type: formsOf(inner) } : optionSchema(inner)
  }
  return { type: 'object', additionalProperties: false, properties }
}

/** A section may be empty; one that can be turned on as a whole may be just that. */
function formsOf(section: Section): string[] {
  return section.has('enabled') ? ['object', 'null', 'boolean'] : ['object', 'null']
}

function optionSchema(option: Option): JsonSchema {
  const { kind, help } = option
  const isText = kind.repeats && kind.placeholder !== undefined
  const value = isText ? { anyOf: [kind.schema, { type: 'string' }] } : kind.schema
  const unset = [
    ...(option.default === undefined ? [{ type: 'null' }] : []),
    ...(option.none ? [{ const: 'none' }] : []),
  ]
  const schema = unset.length === 0 ? value : { anyOf: [value, ...unset] }
  const standard = defaultOf(option, '<version>')
  return { description: help, ...schema, ...(standard === undefined ? {} : { default: plain(kind.write(standard)) }) }
}

function plain(written: unknown): unknown {
  return written instanceof Map ? Object.fromEntries(written) : written
}
