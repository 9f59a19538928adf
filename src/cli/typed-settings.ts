/** The settings that an invocation asks for: defaults, a crawl that is resumed, configuration file, environment, flags. */
import { configPathOf, readConfigFile, resolveSettings, type ConfigFile, type Settings } from '../config/index.ts'
import type { Invocation } from './invocation.ts'

/** `stored` is the configuration of a crawl that is resumed; it stands just above the defaults. */
export function typedSettings({ parsed, env, version }: Invocation, stored?: ConfigFile): Settings {
  const configPath = configPathOf(parsed.switches, env)
  return resolveSettings({
    version,
    flags: parsed.flags,
    environment: env,
    ...(stored === undefined ? {} : { stored }),
    ...(configPath === undefined ? {} : { file: readConfigFile(configPath) }),
  }).settings
}
