/** Loaded before the program that is measured: at its end, writes what it used to the file that USAGE_FILE names. */
import { writeFileSync } from 'node:fs'

const file = process.env['USAGE_FILE']

process.on('exit', () => {
  if (file === undefined) return
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  writeFileSync(file, JSON.stringify({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: maxRSS * 1024 }))
})
