/** Configuration: one table of options, and everything that is made from it. */
export { configPathOf, parseArguments, type ParsedArguments } from './arguments.ts'
export { COMMAND_NAMES, type CommandName, type SwitchName, type Switches } from './commands.ts'
export { readConfigFile, type ConfigFile } from './config-file.ts'
export { toCrawlYaml, toFleetYaml } from './crawl-yaml.ts'
export { fleetDifference, limitsDifference, settingsDifference, type Difference } from './difference.ts'
export { explainSettings } from './explain.ts'
export { listenParts, withoutPassword } from './fleet-kinds.ts'
export { quotasOf, recrawlOptionsOf, scoreOptionsOf } from './frontier-settings.ts'
export { headersInForce } from './header-secret.ts'
export { EXIT_CODES, helpText } from './help.ts'
export { type Environment, type RawValues } from './layer.ts'
export { settingsFromLibrary, type CrawlerOptions, type Duration, type Share, type Size } from './library.ts'
export { BOT_URL, OPTIONS, type Option, type OptionName } from './options.ts'
export { referencePage } from './reference.ts'
export { resolveSettings, type Resolved, type ResolveInput } from './resolve.ts'
export { configSchema } from './schema.ts'
export {
  concurrentFetches,
  crawlDelayInForce,
  leaseTimeInForce,
  partitionsInForce,
  type CrawlDelayPolicy,
  type Format,
  type OriginHeader,
  type ResolveRule,
  type Settings,
  type SinkName,
  type SiteRule,
  type TierRule,
} from './settings.ts'
