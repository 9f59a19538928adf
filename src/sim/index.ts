/**
 * The crawler in a world of its own: the same engine and frontier on a simulated clock, web, disk and network between
 * machines. With faults from a seed and checkers that look on, to find bugs (`runSeed`); with a fleet of any size
 * (`runFleet`, and `runFleetScale` on a cluster); and with a web like the real one, to plan a crawl (`plan/`).
 */
export { runFleet, type FleetOptions, type FleetReport } from './fleet.ts'
export {
  runFleetScale,
  type Dimension,
  type FleetPoint,
  type FleetScaleOptions,
  type FleetScaleReport,
  type FleetSweep,
} from './fleet-scale.ts'
export { FLEET_DEFAULTS, MOST_PARTITIONS, type FleetShape } from './fleet-shape.ts'
export * from './plan/index.ts'
export { runScenario, runSeed, runSeeds, type Sabotage, type SimReport } from './run.ts'
export { type Aspect, type Revisits } from './aspects.ts'
export { scenarioOf, type Home, type Scenario } from './scenario.ts'
export { createSimDisk, type SimDisk } from './sim-disk.ts'
export { createSimFetcher, type SimFetcherDeps } from './sim-fetcher.ts'
export { Violation } from './violation.ts'
export { createWeb, type Visit, type Web, type WebHost, type WebObserver } from './web.ts'
export { makeWeb, type WebWishes } from './web-maker.ts'
export type { HostSpec, PageSpec, RobotsSpec, WebSpec } from './web-spec.ts'
export { createWorld, onGrid, WORLD_START, type SimProcess, type World } from './world.ts'
