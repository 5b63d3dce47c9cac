/** Items of responses that upstreams keep, read where a request of another model or account goes on from them. */
import { isObject, type TurnAtUpstream } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import { askKeeper, type KeeperDeps } from './upstream-keeper.ts';

/** Items of one page; the vendor's own bound. */
const pageSize = 100;
const maxPages = 100;

interface KeptTurn {
  id: string;
  at: TurnAtUpstream;
}

/** A turn in a stored history whose items are elsewhere. */
function keptTurn(item: unknown): KeptTurn | undefined {
  if (!isObject(item) || item['type'] !== 'upstream_turn' || typeof item['id'] !== 'string' || !isObject(item['at'])) return undefined;
  return { id: item['id'], at: item['at'] as unknown as TurnAtUpstream };
}

/** Whether an item of a stored history stands for a turn that an upstream keeps. */
export const isKeptItem = (item: unknown): boolean => keptTurn(item) !== undefined;

/**
 * The history with the items of such turns in their places; `missing`: their upstream has forgotten some. Throws 409 where one is still in progress, and
 * 502 where its upstream cannot be reached.
 */
export async function fillHistory(history: readonly unknown[], deps: KeeperDeps): Promise<{ items: readonly unknown[]; missing: boolean }> {
  const items: unknown[] = [];
  let missing = false;
  for (const item of history) {
    const kept = keptTurn(item);
    const own = kept ? await unlessGone(readKept(kept, deps)) : [item];
    if (own) items.push(...own);
    else missing = true;
  }
  return { items, missing };
}

/** undefined: the upstream knows nothing of it any more. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isGatewayError(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Resolves when the response is over; false: its upstream has forgotten it. Throws as `fillHistory`. */
export const waitUntilOver = async (id: string, at: TurnAtUpstream, deps: KeeperDeps): Promise<boolean> =>
  (await unlessGone(finished(id, at, deps))) !== undefined;

async function readKept({ id, at }: KeptTurn, deps: KeeperDeps): Promise<unknown[]> {
  const response = await finished(id, at, deps);
  const items: unknown[] = [];
  let after = '';
  for (let page = 0; page < maxPages; page++) {
    const query = `order=asc&limit=${pageSize}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
    const list = await askKeeper(at, { method: 'GET', id, path: '/input_items', query }, deps);
    const data = isObject(list) && Array.isArray(list['data']) ? (list['data'] as unknown[]) : [];
    items.push(...data);
    const last = data.at(-1);
    if (!isObject(list) || list['has_more'] !== true || !isObject(last) || typeof last['id'] !== 'string') break;
    after = last['id'];
  }
  return [...items, ...(Array.isArray(response['output']) ? (response['output'] as unknown[]) : [])];
}

/** How long one that is still in progress is waited for, and how often it is asked for. */
const waitMs = 5_000;
const pollMs = 250;

async function finished(id: string, at: TurnAtUpstream, deps: KeeperDeps): Promise<Record<string, unknown>> {
  const until = performance.now() + waitMs;
  for (;;) {
    const response = await askKeeper(at, { method: 'GET', id, path: '', query: '' }, deps);
    if (!isObject(response)) throw new GatewayError('upstream_bad_reply');
    if (response['status'] !== 'queued' && response['status'] !== 'in_progress') return response;
    if (performance.now() >= until) throw new GatewayError('response_in_progress');
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
