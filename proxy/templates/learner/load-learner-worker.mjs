import { register } from 'tsx/esm/api'

/* Starts the worker of a checkout, on a Node.js that cannot run TypeScript: a thread does not inherit its loader. */

register()
// not awaited: a thread of Node 20 that is terminated while its first module waits takes the process with it
void import('./learner-worker.ts')
