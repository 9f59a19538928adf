/** Threads that tests start load what was compiled before, as they do for a person who runs the program. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'tiptoe'))
