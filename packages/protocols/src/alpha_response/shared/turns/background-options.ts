/** `background_options`: within which time the vendor answers a background run, the later for less. The gateway runs its own at once. */
import { own } from '../../../kit/read.ts';

export const runsAtOnce = 'A run in the background begins at once here, at the usual price.';

/** Whether they ask for more than a run that begins as soon as it can, which is what is done without them. */
export const laterRun = (options: unknown): boolean => (own(options, 'completion_window') ?? 'soonest') !== 'soonest';
