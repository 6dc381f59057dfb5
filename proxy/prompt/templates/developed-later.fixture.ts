import { firstHalf } from './developed-later-first.fixture.ts'
import { secondHalf } from './developed-later-second.fixture.ts'
import type { Template } from './template.fixture.ts'

/*
 * Templates that were held out at first, when 71.3 % of their lists were found exactly. The finder was fixed by them
 * since: they say what it keeps, not how it does on others.
 */

export const developedLater: readonly Template[] = [...firstHalf, ...secondHalf]
