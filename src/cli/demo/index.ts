/** The demo's web, and the loopback server beneath it. */
export { createDemoWeb, type DemoWeb } from './demo-web.ts'
export {
  createLoopbackWeb,
  type Answer,
  type HostBehaviour,
  type LogEntry,
  type LoopbackWeb,
  type LoopbackWebOptions,
  type WebRequest,
} from './loopback-web.ts'
