/** The figures both buses share: flow-control windows, frame cap, default deadlines. */

/** Bytes a callee may have under way to a slow opener. */
export const replyWindow = 256 * 1024;
/** Bytes an opener may have under way to a callee: body parcels and duplex sends. */
export const requestWindow = 1024 * 1024;
/** Payload bytes of one frame; anything larger travels in parts. */
export const frameCap = 256 * 1024;
export const defaultAskDeadlineMs = 5000;
/** What a stream opened without a deadline reports: the longest delay a timer takes, about 24 days. */
export const noDeadlineMs = 2 ** 31 - 1;
/** The callee is given this long to end a stream in its own way after the deadline, before the bus ends it with `timeout`. */
export const deadlineGraceMs = 1000;
/** How long a callee keeps a tail that nobody acknowledges, though the opener lives. */
export const settleMs = 60_000;
export const eventBatchItems = 500;
export const eventBatchWaitMs = 200;
/** Bodies that are being gathered, over all streams of a process. */
export const gatheredBodiesCap = 512 * 1024 * 1024;
export const outboxItemsCap = 100_000;
export const outboxBytesCap = 64 * 1024 * 1024;
