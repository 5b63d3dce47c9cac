/** When a token is renewed, and until when it is used. The figures are those of the vendors' own clients. */

/** Renewed so long before its end, and up to `jitterMs` earlier, so that the tokens of many logins do not end together. */
const earlyMs = 120_000;
const jitterMs = 30_000;
/** Not used any more so long before its end: clocks differ. */
const skewMs = 60_000;
/** A refresher that has not answered for so long is dead; twice the time that the call may take, and what clocks may differ by. */
export const lockMs = 30_000;
export const lockSkewMs = 60_000;
/** After a refresh that failed and may be tried again. */
export const backoffMs = 5_000;
/** A token that an upstream refuses is renewed at most so often. */
export const forcedEveryMs = 60_000;

interface Life {
  expiresAt: number | null;
  refreshedAt: number | null;
}

/** A short life is halved instead. `random`: 0 to 1. */
export function refreshDue(expiresAt: number | null, now: number, random: number): number | null {
  if (expiresAt === null) return null;
  return Math.round(Math.max(expiresAt - earlyMs - random * jitterMs, now + (expiresAt - now) / 2));
}

export function isUsable({ expiresAt, refreshedAt }: Life, now: number): boolean {
  if (expiresAt === null) return true;
  const life = refreshedAt === null ? Number.POSITIVE_INFINITY : expiresAt - refreshedAt;
  return now < expiresAt - Math.min(skewMs, life / 4);
}
