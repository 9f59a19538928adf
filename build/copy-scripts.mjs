/** The Lua scripts of the store go with the code that reads them: the compiler leaves them behind. Takes its folder. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const out = process.argv[2] ?? join(root, 'dist')
cpSync(join(root, 'src/frontier/redis/lua'), join(out, 'frontier/redis/lua'), { recursive: true })
