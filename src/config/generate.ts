/** Writes what is made from the tables: `node src/config/generate.ts`. A test fails when the files are stale. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { limitsReferencePage } from './limits-reference.ts'
import { outputReferencePage } from './output-reference.ts'
import { configSchema } from './schema.ts'
import { referencePage } from './reference.ts'

const folder = new URL('../../docs/reference/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL('options.md', folder), referencePage())
writeFileSync(new URL('limits.md', folder), limitsReferencePage())
writeFileSync(new URL('output.md', folder), outputReferencePage())
writeFileSync(new URL('tiptoe.schema.json', folder), `${JSON.stringify(configSchema(), undefined, 2)}\n`)
