/** Calls of the console's API: credential, JSON, revisions, problems. */
import { forgetToken, readToken } from '../session/token.ts';
import { readProblem, unreachable } from './problem.ts';
import { noteAnswer, noteNoAnswer } from './reachability.ts';

const base = '/console/api';

export interface CallOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  /** The body is text of this type, sent as it is. */
  bodyType?: string;
  query?: Record<string, string | number | boolean | null | undefined>;
  /** Parameters that are empty mean something: they are sent too. */
  withEmpty?: boolean;
  /** Revision the change was made on: another's change in between is refused with 412. */
  etag?: string | null;
  signal?: AbortSignal | undefined;
  /** Text instead of JSON (exports). */
  as?: 'json' | 'text' | 'response';
}

/** Path below `/console/api`, each part encoded. */
export const path = (...parts: string[]): string => parts.map(encodeURIComponent).join('/');

/** For as long as a question waits, it is asked this often whether the gateway is there at all. */
const slowMs = 10_000;
/** A question that only reads is given up then, so that it can be asked on another connection: its own may be gone, as after a computer slept. The database gives up sooner. */
const readMs = 60_000;

/** As `fetch`, but does not wait for ever in silence. */
async function fetchInTime(url: string, { signal, ...options }: RequestInit & { signal?: AbortSignal | undefined }): Promise<Response> {
  const limit = new AbortController();
  const asking = setInterval(() => void noteNoAnswer(), slowMs);
  const giveUp = options.method === 'GET' ? setTimeout(() => limit.abort(), readMs) : undefined;
  try {
    return await fetch(url, { ...options, signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal });
  } finally {
    clearInterval(asking);
    clearTimeout(giveUp);
  }
}

function queryString(query: CallOptions['query'], withEmpty: boolean): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null && (withEmpty || value !== '')) search.set(name, String(value));
  const text = search.toString();
  return text ? `?${text}` : '';
}

/** Throws `ApiProblem`. A 401 ends the session here: the shell then shows the sign-in page. */
export async function call<T>(
  where: string,
  { method = 'GET', body, bodyType, query, withEmpty = false, etag, signal, as = 'json' }: CallOptions = {},
): Promise<T> {
  const token = readToken();
  let response: Response;
  try {
    response = await fetchInTime(`${base}/${where}${queryString(query, withEmpty)}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': bodyType ?? 'application/json' }),
        ...(etag && { 'if-match': etag }),
      },
      ...(body !== undefined && { body: bodyType === undefined ? JSON.stringify(body) : String(body) }),
      signal,
      redirect: 'error',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    void noteNoAnswer();
    throw unreachable();
  }
  if (!response.ok) {
    const problem = await readProblem(response);
    if (problem.isOfProxy) void noteNoAnswer();
    else noteAnswer();
    if (response.status === 401 && where !== 'login') forgetToken(token);
    throw problem;
  }
  noteAnswer();
  if (as === 'response') return response as T;
  if (as === 'text') return (await response.text()) as T;
  if (response.status === 204) return undefined as T;
  const value = (await response.json()) as T;
  // Revisions travel in the header for one resource and in the body for lists.
  const tag = response.headers.get('etag');
  return tag && typeof value === 'object' && value !== null ? { ...value, $etag: tag } : value;
}
