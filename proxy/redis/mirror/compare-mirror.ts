import type { RequestId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { TimeSlices } from '../../bounds/time-slices.ts'
import type { MirrorChanges } from './mirror-changes.ts'
import type { MirrorFollower } from './mirror-follower.ts'

/** Returns all requests of a mirror, collected in slices. */
export async function requestsOf(mirror: CacheMirror): Promise<Set<RequestId>> {
  const slices = new TimeSlices()
  const requests = new Set<RequestId>()
  for (const request of mirror.requestIds()) {
    requests.add(request)
    if (slices.isOver) await slices.pass()
  }
  return requests
}

/** Queues everything in memory for writing: Redis may have lost it. */
export async function writeAllAgain(mirror: CacheMirror, changes: MirrorChanges): Promise<void> {
  const slices = new TimeSlices()
  for (const request of mirror.requestIds()) {
    if (!changes.peek(request)) changes.put(request, 'rewritten')
    if (slices.isOver) await slices.pass()
  }
}

/** Forgets requests that are in memory but not in Redis: other proxies have removed them. */
export async function forgetUnseen(
  unseen: ReadonlySet<RequestId>,
  changes: MirrorChanges,
  follower: MirrorFollower,
): Promise<void> {
  const slices = new TimeSlices()
  for (const request of unseen) {
    if (!changes.peek(request)) follower.forget(request)
    if (slices.isOver) await slices.pass()
  }
}
