/** The dimensions of statistics, in a file that imports nothing: the schemas of answers need no database code. */

export const dimensions = ['access_key', 'key_group', 'model', 'upstream', 'client_protocol', 'upstream_protocol', 'error'] as const;
export type Dimension = (typeof dimensions)[number];
/** What sums may be told apart by: also the tags that access keys have now, of which no sums are kept. */
export const groupings = [...dimensions, 'tag'] as const;
export type Grouping = (typeof groupings)[number];

export const attemptDimensions = ['upstream', 'key', 'model', 'outcome'] as const;
export type AttemptDimension = (typeof attemptDimensions)[number];
