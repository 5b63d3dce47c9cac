/**
 * Sessions that their caller may resume on a new connection: what the upstream names them by is known to the account alone that gave it. Whose it is, is
 * noted as of a response that an upstream keeps, and a session that is resumed goes to the same account.
 */
import { createHash } from 'node:crypto';
import type { Plan, RealtimeJob, Snapshot, TurnAtUpstream, TurnFacts } from '@model-gateway/contracts';
import type { RealtimeAdapter } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { readTurns, writeTurn } from '../turns/ask-store.ts';
import type { RealtimeDeps } from './deps.ts';
import type { Frame } from './dialled.ts';

type Deps = Pick<RealtimeDeps, 'bus' | 'logger' | 'catalog' | 'turns'>;

/** Handles have any length and any characters, and may be used by anyone who knows them: the store gets a hash. */
const idOf = (handle: string): string => `live_${createHash('sha256').update(handle).digest('base64url')}`;

/** undefined: nobody can own the session. */
function ownerOf({ accessKeyHash }: RealtimeJob, { catalog }: Deps): string | undefined {
  const snapshot = catalog.current();
  if (accessKeyHash === undefined || !snapshot) return undefined;
  return (snapshot.accessKeys.get(accessKeyHash) ?? snapshot.previousKeys?.get(accessKeyHash))?.id;
}

/** Notes which account knows the handle. A store that is away is no reason to end a session. */
export function keepHandle(handle: string, job: RealtimeJob, { model, upstream, key }: Route, deps: Deps): void {
  const owner = ownerOf(job, deps);
  if (owner === undefined || deps.turns.keptBy === undefined) return;
  const id = idOf(handle);
  const turn: TurnFacts = {
    ...{ id, owner, parent: null, conversation: null, background: false, status: 'completed' },
    ...{ model: job.requestedModel, createdAt: Date.now(), holder: deps.turns.holder, requestId: job.id },
    at: { model: model.name, upstream: upstream.name, account: key?.id ?? '' },
  };
  writeTurn(deps.bus, { kind: 'begin', turn }).catch((error: unknown) =>
    deps.logger.info({ request: job.id, error }, 'the account of a session that may be resumed could not be noted'),
  );
}

/** The plan of a session that begins with this frame: with the account alone that can resume it, where the frame asks for that. */
export async function planResumed(job: RealtimeJob, opening: Frame | null, realtime: RealtimeAdapter | undefined, deps: Deps): Promise<Plan> {
  const { plan } = job;
  const handle = opening ? realtime?.readHandle?.(opening.bytes) : undefined;
  const owner = handle === undefined ? undefined : ownerOf(job, deps);
  if (handle === undefined || owner === undefined || deps.turns.keptBy === undefined) return plan;
  try {
    const { found } = await readTurns(deps.bus, { kind: 'turn', owner, id: idOf(handle) });
    const at = found.turn?.at;
    return at ? stickTo(at, plan, await deps.catalog.at(plan.revision)) : plan;
  } catch (error) {
    deps.logger.info({ request: job.id, error }, 'the account of a session that is resumed could not be read');
    return plan;
  }
}

/** Where the account may not be asked any more, the upstream that is asked says what becomes of the handle. */
function stickTo({ model, upstream, account }: TurnAtUpstream, plan: Plan, { upstreams }: Snapshot): Plan {
  const node = plan.nodes.find((one) => one.model === model && one.upstream === upstream);
  const keyIndex = upstreams.get(upstream)?.api_keys.findIndex(({ id }) => id === account) ?? -1;
  if (!node || (account !== '' && keyIndex < 0)) return plan;
  return { ...plan, nodes: [{ ...node, keys: [keyIndex] }] };
}
