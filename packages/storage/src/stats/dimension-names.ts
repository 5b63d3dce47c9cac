/** The dimensions of statistics. Names alone, so that whoever describes answers loads no database. */

export const dimensions = ['access_key', 'key_group', 'model', 'upstream', 'client_protocol', 'upstream_protocol', 'error'] as const;
export type Dimension = (typeof dimensions)[number];

export const attemptDimensions = ['upstream', 'key', 'model', 'outcome'] as const;
export type AttemptDimension = (typeof attemptDimensions)[number];
