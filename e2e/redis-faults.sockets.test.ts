import { describeRedisFaults } from './redis-faults.contract.ts'

describeRedisFaults(2)
