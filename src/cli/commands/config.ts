/** `tiptoe config`: the resolved configuration, where each value came from, or the schema of the file. Starts nothing. */
import {
  configPathOf,
  configSchema,
  explainSettings,
  readConfigFile,
  resolveSettings,
  toCrawlYaml,
  withoutPassword,
} from '../../config/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { escapeJson } from '../terminal-escape.ts'

export async function configCommand({ parsed, terminal, env, version }: Invocation): Promise<number> {
  const { switches, flags } = parsed
  if (switches.schema === true) {
    if (switches.explain === true) {
      throw new TiptoeError('usage', '--explain and --schema are two different questions', { hint: 'ask one of them' })
    }
    terminal.data(escapeJson(JSON.stringify(configSchema(), null, 2)))
    return EXIT.done
  }
  const configPath = configPathOf(switches, env)
  const { settings, sources } = resolveSettings({
    version,
    flags,
    environment: env,
    ...(configPath === undefined ? {} : { file: readConfigFile(configPath) }),
  })
  const { store } = settings
  const resolved = {
    settings: store === undefined ? settings : { ...settings, store: withoutPassword(store) },
    sources,
  }
  const explained = switches.explain === true
  terminal.result(explained ? resolved : resolved.settings, () =>
    explained ? explainSettings(resolved) : toCrawlYaml(resolved.settings),
  )
  return EXIT.done
}
