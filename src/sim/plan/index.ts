/** Planning a crawl: how long it will take, and what bounds it. */
export { assumeWeb, type Assumptions } from './assumed-web.ts'
export { boundOf, enoughSlots, longestChains, type Bound, type DelayInForce, type HostChain } from './bounds.ts'
export { canBeBusy, measureMachine } from './measured-machine.ts'
export { recordedCosts, USUAL_COSTS, type MachineCosts } from './machine.ts'
export type { PlannedHost, PlannedWeb } from './planned-web.ts'
export { recordWeb, type RecordedCrawl, type RecordedUrl, type RecordedWebOptions } from './recorded-web.ts'
export { runPlan, type Plan, type PlanOptions } from './run-plan.ts'
export { resliced, type Slices } from './slices.ts'
