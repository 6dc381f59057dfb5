import { firstHalf } from './held-out-first.fixture.ts'
import { secondHalf } from './held-out-second.fixture.ts'
import type { Template } from './template.fixture.ts'

/* Templates that the finder was not mended by: how it does on these is how it does on those of others. */

export const heldOut: readonly Template[] = [...firstHalf, ...secondHalf]
