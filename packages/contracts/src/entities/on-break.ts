import { z } from 'zod';

/**
 * What the caller of a stream that broke after its first bytes gets. `finish`: the protocol's own ending, with a warning. `break`: the connection is
 * broken off without one, so that a client that retries by itself repeats the turn. `auto`: `break` for clients known to do so, else `finish`.
 */
export const onBreakSchema = z.enum(['finish', 'break', 'auto']);
export type OnBreak = z.infer<typeof onBreakSchema>;

/** How a broken stream was ended. */
export type BrokenEnding = Exclude<OnBreak, 'auto'>;
