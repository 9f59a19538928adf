/**
 * The commands: what each takes and which flags it knows. Options of a crawl come from the table of options; the
 * switches here say how one invocation behaves, and are no part of a crawl's configuration.
 */
import { OPTIONS, type Option, type OptionName } from './options.ts'

/** What the switches were set to; an absent one was not given. */
export interface Switches {
  readonly config?: string
  readonly fresh?: true
  readonly once?: true
  readonly keep?: true
  readonly from?: string
  readonly agent?: string
  readonly whole?: true
  readonly workers?: string
  readonly hosts?: string
  readonly pages?: string
  readonly latency?: string
  readonly size?: string
  readonly seed?: string
  readonly seeds?: string
  readonly fleet?: true
  readonly nodes?: string
  readonly sample?: string
  readonly fields?: string
  readonly 'max-tokens'?: string
  readonly permitted?: string
  readonly duplicates?: true
  readonly force?: true
  readonly explain?: true
  readonly schema?: true
  readonly json?: true
  readonly quiet?: true
  readonly verbose?: true
  readonly help?: true
  readonly version?: true
}
export type SwitchName = keyof Switches

export interface Switch {
  readonly short?: string
  /** Present: it takes a value. */
  readonly placeholder?: string
  /** It may be given several times; its values are lines then. */
  readonly repeats?: true
  readonly help: string
}

export const SWITCHES: { readonly [K in SwitchName]-?: Switch } = {
  config: { short: 'c', placeholder: 'FILE', help: 'read this configuration file (YAML); TIPTOE_CONFIG names one too' },
  fresh: { help: 'start over: forget the crawl that the folder holds' },
  once: { help: 'fetch again what is due in the folder, and what was still queued, then end' },
  keep: { help: 'stay when the crawl is over, for seeds that are added later' },
  from: {
    placeholder: 'DIR',
    repeats: true,
    help: 'a folder with records of the crawl: of a worker, of several in it, or what the crawl was begun in',
  },
  agent: { placeholder: 'TOKEN', help: 'ask for this product token instead of our own' },
  whole: { help: 'simulate the whole crawl of the folder, from its start, and not what is left of it' },
  workers: {
    placeholder: 'LIST',
    help: 'simulate with so many pages fetched at once, such as 1,5,20; with --fleet: so many workers',
  },
  hosts: { placeholder: 'N', help: 'assume so many hosts in all; the seeds name the first of them' },
  pages: { placeholder: 'N', help: 'assume so many pages on each host' },
  latency: { placeholder: 'DURATION', help: 'assume that a host takes so long to answer' },
  size: { placeholder: 'SIZE', help: 'assume pages of this size, for what reading them costs' },
  seed: { placeholder: 'N', help: 'run the torture test with this seed, the same every time' },
  seeds: { placeholder: 'COUNT', help: 'run the torture test with so many seeds in a row, from --seed or 1 on' },
  fleet: { help: 'run the frontier of a fleet: 1,000 workers on 1,000,000 hosts; with --partitions: on a cluster' },
  nodes: { placeholder: 'N', help: 'assume so many masters in the cluster of the fleet' },
  sample: { placeholder: 'N', help: 'simulate so many parts of the fleet, the first on its fullest master' },
  fields: { placeholder: 'LIST', help: 'columns of the table, by the names of the fields of a record' },
  'max-tokens': {
    placeholder: 'N',
    help: 'divide the Markdown into files of at most so many tokens each, in a folder',
  },
  permitted: {
    placeholder: 'USE',
    help: 'only pages whose site does not forbid this use: search, ai-input or ai-train',
  },
  duplicates: { help: 'keep pages that repeat another one of the export' },
  force: { help: 'replace what is there already' },
  explain: { help: 'say where each value came from' },
  schema: { help: 'print the JSON Schema of the configuration file, for editors' },
  json: { help: 'print JSON on stdout' },
  quiet: { short: 'q', help: 'print errors alone' },
  verbose: { short: 'v', help: 'print every request' },
  help: { short: 'h', help: 'print this help' },
  version: { short: 'V', help: 'print the version' },
}

export interface Operand {
  readonly name: string
  readonly optional?: true
  readonly many?: true
}

export interface Command {
  /** One sentence without a full stop, lower case. */
  readonly summary: string
  /** What a person must know to choose between its forms; one line each, within 100 columns. */
  readonly about?: readonly string[]
  readonly operands: readonly Operand[]
  readonly options: readonly Option[]
  readonly switches: readonly SwitchName[]
  readonly examples: readonly string[]
}

const TALK: readonly SwitchName[] = ['json', 'quiet', 'verbose', 'help']
const SEEDS: Operand = { name: 'URL', optional: true, many: true }
const FLAGGED = OPTIONS.filter((option) => option.flag !== undefined)
/** What says where a crawl is kept. */
const STORE = OPTIONS.filter(({ name }) => name === 'store' || name === 'crawl' || name === 'storeCa')
const NETWORK = FLAGGED.filter((option) => option.network)

/** A flag that a crawl has too, where it means something of its own, is given once and has no default. */
function borrowed(name: OptionName, placeholder: string, help: string): Option {
  const { default: _default, ...option } = OPTIONS.find((each) => each.name === name) as Option
  const { repeats: _repeats, ...kind } = option.kind
  return { ...option, kind: { ...kind, placeholder }, help }
}

export const COMMANDS = {
  crawl: {
    summary: 'crawl from these URLs, or resume the crawl that the folder already holds',
    operands: [SEEDS],
    options: FLAGGED,
    switches: ['config', 'fresh', 'once', ...TALK],
    examples: [
      'tiptoe https://example.com/docs/',
      'tiptoe https://example.com/ --scope host --max-pages 500 -o example',
      'tiptoe -i seeds.txt -c crawl.yaml',
      'tiptoe --once -o example',
    ],
  },
  seed: {
    summary: 'begin a crawl on a store, or add seeds to one: keeps the configuration and the URLs, and fetches nothing',
    about: [
      'Again, it adds seeds; with other limits, it changes those, while nobody works on the crawl; and it',
      'lets a crawl go on that was ended for all workers by a limit of bytes or time.',
    ],
    operands: [SEEDS],
    // It writes no folder, and is gone before anybody could ask how it is.
    options: FLAGGED.filter(({ name }) => name !== 'out' && name !== 'health'),
    switches: ['config', ...TALK],
    examples: [
      'tiptoe seed -i seeds.txt --store redis://127.0.0.1 --crawl news -c fleet.yaml',
      'tiptoe seed --store redis://127.0.0.1 --crawl news --max-pages 20000',
    ],
  },
  worker: {
    summary: 'work on a crawl that is kept on a store, beside any number of others, with a folder of its own',
    about: [
      'Workers are started and stopped at will, anywhere. Each needs a folder of its own (-o), in which',
      'it finds its name again. The configuration is the one that is kept with the crawl; what a worker',
      'is given besides may not differ from it in scope, politeness and limits.',
    ],
    operands: [],
    options: FLAGGED.filter(({ name }) => name !== 'input'),
    switches: ['config', 'keep', ...TALK],
    examples: ['tiptoe worker --store redis://127.0.0.1 --crawl news -o worker-1 --concurrency 250'],
  },
  coordinator: {
    summary:
      'look after a crawl on a store: spread it over its workers, clean up after those that are lost, keep limits',
    about: [
      'One leads, and others that are started take over within seconds when it is gone. Workers go on',
      'without any, and then look after the crawl themselves.',
    ],
    operands: [],
    options: FLAGGED.filter(({ group, name }) => group === 'Fleet' || name.startsWith('max')),
    switches: ['config', 'keep', ...TALK],
    examples: ['tiptoe coordinator --store redis://127.0.0.1 --crawl news --max-bytes 50GB'],
  },
  status: {
    summary: 'how a crawl stands: URLs by state, tier and reason, hosts by state, and what it waits for',
    operands: [{ name: 'DIR|STORE', optional: true }],
    options: STORE,
    switches: TALK,
    examples: ['tiptoe status tiptoe-example.com', 'tiptoe status redis://127.0.0.1 --crawl news'],
  },
  why: {
    summary: 'the story of one URL: who linked it, what was decided and by which rule, what happens next',
    operands: [
      { name: 'URL' },
      { name: 'DIR|STORE', optional: true },
      { name: 'WORKERDIR', optional: true, many: true },
    ],
    options: STORE,
    switches: TALK,
    examples: [
      'tiptoe why https://example.com/private/ tiptoe-example.com',
      'tiptoe why https://example.com/ redis://127.0.0.1 worker-1 worker-2 --crawl news',
    ],
  },
  audit: {
    summary: 'check from the records that no URL was lost and no host was asked too fast; exit 1 on a violation',
    about: [
      'Of a crawl on a store, the counters are compared with what is really there; with the folders of',
      'its workers, also that each URL has one record in all of them, and the pace of every host over all',
      'of them together. Folders alone are audited for their records and the pace.',
    ],
    operands: [
      { name: 'DIR|STORE', optional: true },
      { name: 'WORKERDIR', optional: true, many: true },
    ],
    options: STORE,
    switches: TALK,
    examples: ['tiptoe audit tiptoe-example.com', 'tiptoe audit redis://127.0.0.1 worker-1 worker-2 --crawl news'],
  },
  migrate: {
    summary: 'move a crawl from its folder to a store, for a fleet to go on with, or from a store to a folder',
    about: [
      'All of it is moved: known URLs, queues, retries, hosts with their pace, robots.txt files, plans of',
      'revisits. What it came from stays as it is, but nobody can go on with it there. Cut short, the same',
      'command goes on.',
      '',
      '  tiptoe migrate DIR STORE --crawl NAME             the records stay in DIR',
      '  tiptoe migrate STORE DIR --crawl NAME --from W…   DIR is a new folder, with the records of W…',
    ],
    operands: [{ name: 'DIR|STORE' }, { name: 'STORE|DIR' }, { name: 'WORKERDIR', optional: true, many: true }],
    options: OPTIONS.filter(({ name }) => name === 'crawl' || name === 'storeCa' || name === 'partitions'),
    switches: ['from', ...TALK],
    examples: [
      'tiptoe migrate tiptoe-example.com redis://127.0.0.1 --crawl news',
      'tiptoe migrate redis://127.0.0.1 example --crawl news --from workers --from tiptoe-example.com',
    ],
  },
  export: {
    summary: 'turn a crawl into other formats: an archive to replay, a table, text, one document for a language model',
    about: [
      '  wacz      the WARC files with an index and a list of pages, for ReplayWeb.page',
      '  csv       a table with one row for each page',
      '  jsonl     one record for each page, with its Markdown in it',
      '  text      a folder of plain text',
      '  markdown  one document with a table of contents, or several with --max-tokens',
    ],
    operands: [{ name: 'DIR', many: true }],
    options: [
      borrowed('format', 'FORMAT', 'one of wacz, csv, jsonl, text and markdown'),
      borrowed('out', 'PATH', 'the file or folder to write, - for stdout; named after the crawl when not given'),
      ...OPTIONS.filter(({ name }) => name === 'include' || name === 'exclude'),
      ...STORE,
    ],
    switches: ['permitted', 'duplicates', 'fields', 'max-tokens', 'force', ...TALK],
    examples: [
      'tiptoe export tiptoe-example.com --format wacz',
      'tiptoe export tiptoe-example.com --format markdown --max-tokens 100000 --permitted ai-input',
      'tiptoe export tiptoe-example.com --format csv -o - --fields url,title,tokens',
    ],
  },
  robots: {
    summary: 'fetch the robots.txt of these URLs and say what it allows, with the line that decides',
    operands: [{ name: 'URL', many: true }],
    options: NETWORK,
    switches: ['agent', 'config', ...TALK],
    examples: ['tiptoe robots https://example.com/search --agent MyBot'],
  },
  fetch: {
    summary: 'one page as the crawler sees it: verdict, headers, links, Markdown',
    operands: [{ name: 'URL' }],
    options: FLAGGED.filter((option) => option.network || option.name === 'ignoreRobotsBecause'),
    switches: ['config', ...TALK],
    examples: ['tiptoe fetch https://example.com/ --json'],
  },
  config: {
    summary: 'print the resolved configuration; takes every flag of a crawl and starts nothing',
    operands: [SEEDS],
    options: FLAGGED,
    switches: ['explain', 'schema', 'config', ...TALK],
    examples: ['tiptoe config --explain -c crawl.yaml', 'tiptoe config --schema > tiptoe.schema.json'],
  },
  simulate: {
    summary:
      'how long a crawl will take, which hosts bound it and how many workers help: the same engine on a virtual clock',
    about: [
      'Two jobs, neither of which asks any host for anything:',
      '',
      '  Plan a crawl. Name the folder of one, or what a crawl would be given; its flags count too.',
      '    tiptoe simulate DIR [--whole]           what is left of a crawl, or all of it from its start',
      '    tiptoe simulate [URL…] [-c crawl.yaml]  one to come: --hosts, --pages, --latency, --size',
      '    --workers LIST                          how many pages are fetched at once, to compare',
      '',
      '  Test the crawler itself, on a seeded web full of faults. Exit 1 when a promise is broken.',
      '    tiptoe simulate --seed N                one run, replayed exactly; -v prints its trace',
      '    tiptoe simulate --seeds COUNT           many; with the command that replays each failing one',
      '    tiptoe simulate --fleet                 many workers on one frontier; --workers N, --hosts N',
      '',
      '  Size a fleet: where it bends first, on a cluster with so many partitions and masters.',
      '    tiptoe simulate --fleet --partitions N  --nodes, --workers, --concurrency, --hosts, --pages',
    ],
    operands: [{ name: 'DIR|URL', optional: true, many: true }],
    options: FLAGGED,
    switches: [
      'whole',
      'workers',
      'hosts',
      'pages',
      'latency',
      'size',
      'seed',
      'seeds',
      'fleet',
      'nodes',
      'sample',
      'config',
      ...TALK,
    ],
    examples: [
      'tiptoe simulate tiptoe-example.com',
      'tiptoe simulate https://example.com/ --pages 5000 --latency 300ms --workers 1,5,20',
      'tiptoe simulate -c crawl.yaml',
      'tiptoe simulate --seed 4711 -v',
      'tiptoe simulate --fleet --workers 10000 --hosts 100000000 --partitions 1024 --nodes 16',
    ],
  },
  doctor: {
    summary: 'check that this machine can crawl: Node, disk, limits, DNS, and a store if one is named',
    operands: [],
    options: STORE,
    switches: TALK,
    examples: ['tiptoe doctor', 'tiptoe doctor --store redis://127.0.0.1'],
  },
  demo: {
    summary: 'serve a small web of a dozen hosts on loopback and crawl it; with -o the results are kept',
    operands: [],
    options: OPTIONS.filter((option) => option.name === 'out'),
    switches: TALK,
    examples: ['tiptoe demo'],
  },
  help: {
    summary: 'print help, of one command or of all',
    operands: [{ name: 'COMMAND', optional: true }],
    options: [],
    switches: ['help'],
    examples: ['tiptoe help crawl'],
  },
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word)
}

/** `tiptoe why URL DIR [flags]`. */
export function usageOf(name: CommandName): string {
  const command: Command = COMMANDS[name]
  const operands = command.operands.map(({ name, optional, many }) => {
    const text = many ? `${name}…` : name
    return optional ? `[${text}]` : text
  })
  return ['tiptoe', name === 'crawl' ? '[crawl]' : name, ...operands, '[flags]'].join(' ')
}
