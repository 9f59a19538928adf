/** The reference page of options and commands, in Markdown, made from the tables. */
import { COMMANDS, COMMAND_NAMES, SWITCHES, usageOf, type SwitchName } from './commands.ts'
import { defaultText, EXIT_CODES, flagUsage } from './help.ts'
import { flagOf, GROUPS, OPTIONS, variableOf, type Option } from './options.ts'

export function referencePage(): string {
  return `${[
    '# Options',
    '',
    'This page is made from the table of options in `src/config/options.ts` by `node src/config/generate.ts`.',
    '',
    'A value is looked for in five places; a later one wins: the default, the `crawl.yaml` of a crawl that is resumed,',
    'the configuration file (`-c FILE`, or the variable `TIPTOE_CONFIG`), the environment, the command line. A list',
    'replaces the list before it. `tiptoe config --explain` shows every value and where it came from.',
    '',
    '## How values are written',
    '',
    ...table(['Kind', 'Written'], VALUE_FORMS),
    '',
    'On the command line a repeatable flag adds up. In a variable the values of a list stand side by side with spaces',
    'between them, and what has parts of its own (`headers`, `sites`, `tiers`) is written as YAML. An empty variable counts',
    'as unset, and a variable that names no option is ignored. The password of a store has the variable',
    '`TIPTOE_STORE_PASSWORD`, and is kept nowhere.',
    '',
    'A configuration file says only what differs from the defaults:',
    '',
    '```yaml',
    EXAMPLE_FILE,
    '```',
    '',
    'With this line at its top an editor completes and checks it:',
    '`# yaml-language-server: $schema=tiptoe.schema.json` (`tiptoe config --schema` prints the schema).',
    '',
    '## Patterns',
    '',
    '`include`, `exclude`, `tiers` and `sites` take patterns over URLs. `*` stands for anything but a slash, `**` for',
    'anything. A pattern without a wildcard names a folder with all below it.',
    '',
    ...table(['Shape', 'Held against', 'Examples'], PATTERN_SHAPES),
    '',
    ...GROUPS.flatMap(groupPart),
    '## What is never dialled',
    '',
    'Only http and https are spoken, and only to public addresses: those that the registries of IANA list as loopback,',
    'private, link-local, reserved, for documentation and the like are refused in every notation, also where an IPv6',
    'address carries an IPv4 one, unless `allowAddress` names them. A name is resolved once for each connection, and the',
    'address that was judged is the one that is dialled. Ports of other services, such as 22, 25 or 6667, are refused as',
    'browsers refuse them (the “bad ports” of the Fetch Standard), unless `resolve` names the host and port. What was',
    'refused is in `skipped.jsonl` with the reason `address`.',
    '',
    '## Cookies and secrets',
    '',
    'Cookies and `headers` belong to one origin (scheme, host and port) and are sent to no other, wherever redirects',
    'lead. Cookies are kept in memory and end with the run. The value of a header is a variable of the environment,',
    'alone or after one word (`$TOKEN`, `Bearer $TOKEN`, `session=$SID`), or the secret itself. A variable is read when',
    'requests begin, and `crawl.yaml` keeps its name. A secret given in full is written and shown nowhere, so it must be',
    'given again when the crawl is resumed. User names and passwords in URLs are dropped.',
    '',
    '## When a crawl is resumed',
    '',
    'These options decide which pages a crawl has, so a crawl is not resumed with other values: ' +
      `${OPTIONS.filter(({ shapes }) => shapes)
        .map(({ name }) => `\`${name}\``)
        .join(', ')}.`,
    'All others may change.',
    '',
    'A crawl on a store has several workers, and these options are the same for all of them, besides those above: ' +
      `${OPTIONS.filter(({ shared }) => shared)
        .map(({ name }) => `\`${name}\``)
        .join(', ')}.`,
    'These belong to each process: ' +
      `${OPTIONS.filter(({ local }) => local)
        .map(({ name }) => `\`${name}\``)
        .join(', ')}.`,
    '',
    '## Commands',
    '',
    ...table(
      ['Command', 'Does'],
      COMMAND_NAMES.map((name) => [`\`${usageOf(name)}\``, COMMANDS[name].summary]),
    ),
    '',
    'These flags say how one invocation behaves; `tiptoe help COMMAND` lists which command has which.',
    '',
    ...table(
      ['Flag', 'Does'],
      (Object.keys(SWITCHES) as SwitchName[]).map((name) => {
        const { short, placeholder, help } = SWITCHES[name]
        return [`\`${flagUsage(name, short, placeholder)}\``, help]
      }),
    ),
    '',
    '## Exit codes',
    '',
    ...table(['Code', 'Meaning'], EXIT_CODES),
  ].join('\n')}\n`
}

const EXAMPLE_FILE = `seeds: [https://docs.example.com/guide/]
crawler:
  limits: { max_pages: 500 }
  scope: { mode: host, exclude: ['/archive/**', '*.pdf'] }
  rate_limiting: { default_delay: 2s }
  user_agent: MyBot/1.0 (+https://example.com/bot)
  tiers:
    - { match: 'news.example.com/**', tier: high }
sites: # the first that matches a URL wins
  docs.example.com: { delay: 200ms, concurrency: 2 }`

const PATTERN_SHAPES: readonly (readonly string[])[] = [
  ['begins with `/`', 'the path', '`/docs`, `/api/**`, `/x/*.html`'],
  ['has `://`', 'the whole URL', '`https://example.com/docs/**`'],
  ['has `/` elsewhere', 'host (and port) with path', '`news.example.com/**`'],
  ['has no `/`', 'each segment of the path, and the host', '`*.pdf`, `_sources`, `*.example.com`'],
  ['begins with `re:`', 'the whole URL, searched for a regular expression', '`re:/v[0-9]+/`'],
]

const VALUE_FORMS: readonly (readonly string[])[] = [
  ['duration', '`500ms`, `1s`, `2m`, `1h`; a bare number is seconds (in the library: milliseconds)'],
  ['size', '`500KB`, `10MB`, `2GiB`; a bare number is bytes'],
  ['percentage', '`40%`, or a share from 0 to 1: `0.4`'],
  ['switch', '`true` or `false`; as a flag, `--name` or `--no-name`'],
  ['header', '`ORIGIN NAME: VALUE`, or in a file also `{ origin: …, name: …, value: … }`'],
  ['limit', 'a number, a duration or a size, or `none`'],
]

function groupPart(group: string): string[] {
  const options = OPTIONS.filter((option) => option.group === group)
  const rows = options.map((option) => [
    flagCell(option),
    `\`${option.path}\``,
    `\`${variableOf(option)}\``,
    `\`${option.name}\``,
    code(defaultText(option)),
    option.help,
  ])
  return [`## ${group}`, '', ...table(['Flag', 'Key', 'Variable', 'Library', 'Default', 'Meaning'], rows), '']
}

function flagCell(option: Option): string {
  if (option.name === 'seeds') return '`URL…`'
  const flag = flagOf(option)
  return flag === undefined ? '' : `\`${flagUsage(flag, option.short, option.kind.placeholder)}\``
}

function code(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `\`${text}\``
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}
