import { z } from 'zod';

/**
 * How a stream that breaks after its first bytes is ended for the caller. `finish`: the protocol's regular ending, with a warning. `break`: the
 * connection is cut without an ending, so that a client that retries by itself repeats the turn. `auto`: `break` for clients known to retry, else
 * `finish`.
 */
export const onBreakSchema = z.enum(['finish', 'break', 'auto']);
export type OnBreak = z.infer<typeof onBreakSchema>;

/** How a broken stream was ended. */
export type BrokenEnding = Exclude<OnBreak, 'auto'>;
