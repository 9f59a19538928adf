/** Settings for commands that make a request or two: flags, environment and configuration file, no crawl. */
import { configPathOf, readConfigFile, resolveSettings, type Settings } from '../config/index.ts'
import type { Invocation } from './invocation.ts'

export function networkSettings({ parsed, env, version }: Invocation): Settings {
  const configPath = configPathOf(parsed.switches, env)
  return resolveSettings({
    version,
    flags: parsed.flags,
    environment: env,
    ...(configPath === undefined ? {} : { file: readConfigFile(configPath) }),
  }).settings
}
