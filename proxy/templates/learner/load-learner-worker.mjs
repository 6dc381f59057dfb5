import { register } from 'tsx/esm/api'

/* Starts the worker of a checkout, on a Node.js that cannot run TypeScript: a thread does not inherit its loader. */

register()
await import('./learner-worker.ts')
