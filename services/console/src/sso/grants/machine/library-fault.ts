/** What libraries throw, as a TokenFault: their messages repeat what vendors wrote, so only names and codes go on. */
import { TokenFault } from '../../token-http.ts';

const word = /^[\w.-]{1,64}$/;

interface Thrown {
  name?: unknown;
  code?: unknown;
  error?: unknown;
  errorCode?: unknown;
  status?: unknown;
  response?: { status?: unknown; data?: { error?: unknown } };
  $metadata?: { httpStatusCode?: unknown };
  cause?: unknown;
}

/** `whom`: who was asked, for the message. A refusal (a status of 400 to 403) is final; anything else may pass. */
export function libraryFault(error: unknown, whom: string): TokenFault {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Thrown).cause) if (at instanceof TokenFault) return at;
  const { name, code, error: oauth, errorCode, status, response, $metadata } = (error ?? {}) as Thrown;
  const answered = Number(status ?? response?.status ?? $metadata?.httpStatusCode ?? Number.NaN);
  const named = [oauth, response?.data?.error, errorCode, $metadata ? name : code, name].find((one) => typeof one === 'string' && word.test(one));
  const shown = typeof named === 'string' ? named : 'unknown';
  const refused = answered >= 400 && answered < 404;
  return refused
    ? new TokenFault(shown, `The vendor refused (${shown}).`, true)
    : new TokenFault(shown, `${whom} gave no token (${shown}${Number.isFinite(answered) ? ` ${answered}` : ''}).`, false);
}

/** Runs what a library does for `whom`. Throws TokenFault alone. */
export async function byLibrary<T>(whom: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw libraryFault(error, whom);
  }
}
