import { firstHalf } from './developed-first.fixture.ts'
import { secondHalf } from './developed-second.fixture.ts'
import type { Template } from './template.fixture.ts'

/* Templates by which the finder was mended: they say what it keeps, not how it does on others. */

export const developed: readonly Template[] = [...firstHalf, ...secondHalf]
