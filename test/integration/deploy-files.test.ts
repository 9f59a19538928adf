/**
 * What `deploy/`, the Dockerfile and the guide of the fleet tell people to run is held against the program: commands are
 * parsed as if they had been typed, variables must be those of an option, and all roles have one configuration.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseArguments, readConfigFile, referencePage, resolveSettings } from '../../src/config/index.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DEPLOY = join(ROOT, 'deploy')
const GUIDE = join(ROOT, 'docs/guide/fleet.md')
const FLEET = join(DEPLOY, 'fleet.yaml')

const read = (path: string): string => readFileSync(path, 'utf8')
const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name))
const named = (path: string): string => relative(ROOT, path)

const variablesIn = (text: string): string[] => [...text.matchAll(/\bTIPTOE_[A-Z_]+\b/g)].map(([variable]) => variable)

interface Container {
  readonly args?: string[]
  readonly env?: { readonly name: string; readonly valueFrom?: unknown }[]
}

interface Manifest {
  readonly kind: string
  readonly metadata?: { readonly name: string }
  readonly data?: Record<string, string>
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: Container[] } } }
}

const manifests = files
  .filter((path) => path.includes('kubernetes'))
  .flatMap((path) => parseAllDocuments(read(path)).map((document) => document.toJS() as Manifest))
const compose = parse(read(join(DEPLOY, 'compose.yaml')), { merge: true }) as {
  services: Record<string, { image: string; entrypoint?: string[]; command?: string[] }>
}

/** Every call of the program in the files, with where it stands. */
function* commands(): Generator<[place: string, words: string[]]> {
  for (const { kind, metadata, spec } of manifests) {
    for (const { args } of spec?.template?.spec.containers ?? []) {
      if (args !== undefined && args[0] !== 'valkey-server') yield [`${kind} ${metadata?.name}`, args]
    }
  }
  for (const [service, { image, entrypoint = [], command = [] }] of Object.entries(compose.services)) {
    if (image !== 'tiptoe') continue
    const isShell = entrypoint[0] === 'sh'
    const words = isShell ? (command[0] ?? '').split(' ') : [...entrypoint, ...command]
    yield [`compose ${service}`, words.filter((word) => word !== 'exec' && word !== 'tiptoe')]
  }
  for (const path of files.filter((each) => each.endsWith('.service'))) {
    const line = /^ExecStart=\/usr\/bin\/env tiptoe (.*)$/m.exec(read(path))?.[1]
    if (line === undefined) throw new Error(`${named(path)} starts something else`)
    yield [named(path), line.split(' ')]
  }
  for (const [, block = ''] of read(GUIDE).matchAll(/^```sh\n([^]*?)^```$/gm)) {
    for (const [, line = ''] of block.matchAll(/^(?:\w+=\S+ )*(?:npx )?tiptoe (.*?)(?: +#.*| &)?$/gm)) {
      yield [`docs/guide/fleet.md: ${line}`, line.split(/\s+/).map((word) => word.replaceAll(/^['"]|['"]$/g, ''))]
    }
  }
}

describe('files for deployment', () => {
  it.each([...commands()])('have a command that the program understands: %s', (_place, words) => {
    expect(parseArguments(words).command).toBe(words[0])
  })

  it('have every role', () => {
    const roles = new Set([...commands()].map(([, [role]]) => role))
    expect([...roles]).toEqual(expect.arrayContaining(['seed', 'worker', 'coordinator', 'export']))
  })

  it('name only variables that are read', () => {
    const known = new Set(variablesIn(referencePage()))
    const strangers = [...files, join(ROOT, 'Dockerfile'), GUIDE].flatMap((path) =>
      variablesIn(read(path))
        .filter((variable) => !known.has(variable))
        .map((variable) => `${named(path)}: ${variable}`),
    )
    expect(strangers).toEqual([])
  })

  it('have one configuration, which is valid, and the same for Kubernetes', () => {
    expect(() => resolveSettings({ version: '0', file: readConfigFile(FLEET) })).not.toThrow()
    const { data } = manifests.find(({ metadata }) => metadata?.name === 'tiptoe-fleet') ?? {}
    expect(data?.['fleet.yaml']).toBe(read(FLEET))
  })

  it('hold no password: it comes from a secret, or from whoever starts the fleet', () => {
    const containers = manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
    const given = containers.flatMap(({ env = [] }) => env)
    expect(given.length).toBeGreaterThan(0)
    for (const { valueFrom } of given) expect(valueFrom).toMatchObject({ secretKeyRef: { name: 'tiptoe-store' } })
    expect(read(join(DEPLOY, 'compose.yaml'))).not.toMatch(/PASSWORD: (?!\$\{)/)
  })

  it('export in compose what the workers of one crawl write, and of no other', () => {
    const crawl = '${TIPTOE_CRAWL:-crawl}'
    const written = /-o (\S+)$/.exec(compose.services['worker']?.command?.[0] ?? '')?.[1]
    expect(written?.replace('$$TIPTOE_CRAWL', crawl)).toBe(`/output/${crawl}/$$HOSTNAME`)
    expect(compose.services['export']?.command?.[1]).toBe(`/output/${crawl}`)
  })

  it('list every manifest, so that one command applies them all', () => {
    const { resources } = manifests.find(({ kind }) => kind === 'Kustomization') as unknown as { resources: string[] }
    const present = readdirSync(join(DEPLOY, 'kubernetes')).filter((name) => name !== 'kustomization.yaml')
    expect(resources.toSorted()).toEqual(present.toSorted())
  })
})

describe('the image', () => {
  const [building = '', running = ''] = read(join(ROOT, 'Dockerfile'))
    .split(/^FROM .*$/m)
    .slice(1)
  const copied = (stage: string): string[] =>
    [...stage.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '))
  const isCopied = (path: string): boolean =>
    copied(building).some((source) => path === source || path.startsWith(`${source}/`))

  it('is built with every file that the build names', () => {
    const { scripts } = JSON.parse(read(join(ROOT, 'package.json'))) as { scripts: { build: string } }
    const named = scripts.build.split(' ').filter((word) => existsSync(join(ROOT, word)))
    expect(named).toContain('tsconfig.build.json')
    expect(named.filter((path) => !isCopied(path))).toEqual([])
  })

  it('is sent everything that it copies, and nothing else', () => {
    const [first, ...admitted] = read(join(ROOT, '.dockerignore'))
      .split('\n')
      .filter((line) => /^[*!]/.test(line))
    expect(first).toBe('*')
    const sent = admitted.map((line) => line.slice(1))
    expect(sent.toSorted()).toEqual([...new Set([...copied(building), ...copied(running)])].toSorted())
  })
})

describe('units of systemd', () => {
  const units = files.filter((path) => path.endsWith('.service')).map((path) => [named(path), path] as const)

  it.each(units)('%s is not started again after an end that another start does not mend', (_name, path) => {
    const unit = read(path)
    expect(unit).toMatch(/^Restart=on-failure$/m)
    expect(unit).toMatch(/^RestartPreventExitStatus=1 2 4$/m)
    expect(unit).toMatch(/^DynamicUser=yes$/m)
  })

  it.each(units)('%s tries until the store is up, and not for ever where each start ends at once', (_name, path) => {
    const seconds = (setting: string): number => {
      const [, count, unit] = new RegExp(`^${setting}=(\\d+)(s|min)$`, 'm').exec(read(path)) ?? []
      return Number(count) * (unit === 'min' ? 60 : 1)
    }
    const starts = Number(/^StartLimitBurst=(\d+)$/m.exec(read(path))?.[1])
    const patience = 30
    expect(starts * seconds('RestartSec')).toBeLessThan(seconds('StartLimitIntervalSec'))
    expect(starts * (seconds('RestartSec') + patience)).toBeGreaterThan(seconds('StartLimitIntervalSec'))
  })
})
