/** The dimensions of statistics, in a file that imports nothing: the schemas of answers need no database code. */

export const dimensions = ['access_key', 'key_group', 'model', 'upstream', 'client_protocol', 'upstream_protocol', 'error'] as const;
export type Dimension = (typeof dimensions)[number];

export const attemptDimensions = ['upstream', 'key', 'model', 'outcome'] as const;
export type AttemptDimension = (typeof attemptDimensions)[number];
