import type { RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { TimeSlices } from '../../http/bounds/event-loop.ts'
import type { MirrorChanges } from './mirror-changes.ts'
import type { MirrorFollower } from './mirror-follower.ts'

/** Returns all requests of a mirror, collected in slices. */
export async function requestsOf(mirror: CacheMirror): Promise<Set<RequestId>> {
  const requests = new Set<RequestId>()
  await TimeSlices.each(mirror.requestIds(), (request) => requests.add(request))
  return requests
}

/** Queues everything in memory for writing: Redis may have lost it. */
export function writeAllAgain(mirror: CacheMirror, changes: MirrorChanges): Promise<void> {
  return TimeSlices.each(mirror.requestIds(), (request) => {
    if (!changes.peek(request)) changes.put(request, 'rewritten')
  })
}

/** Forgets requests that are in memory but not in Redis: other proxies have removed them. */
export function forgetUnseen(
  unseen: ReadonlySet<RequestId>,
  changes: MirrorChanges,
  follower: MirrorFollower,
): Promise<void> {
  return TimeSlices.each(unseen, (request) => {
    if (!changes.peek(request)) follower.forget(request)
  })
}
