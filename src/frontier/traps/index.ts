/** Traps: URLs of a host that lead to ever the same pages, told by rules and by what its pages have taught. */
export { createAddresses } from './address.ts'
export { createHostTraps, type HostTraps } from './host-traps.ts'
export { createRooms, type Rooms } from './rooms.ts'
export { createUnderWay, type UnderWay } from './under-way.ts'
