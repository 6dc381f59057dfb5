import { describeMirrorFaults } from './redis-mirror-faults.contract.ts'

describeMirrorFaults(10)
