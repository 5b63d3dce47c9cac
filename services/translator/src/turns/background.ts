/** Runs without a caller: who holds them, and how they begin. */
import type { Job } from '@model-gateway/contracts';
import { resolveTarget } from '@model-gateway/routing';
import { passesVerbatim } from '../prepare/verbatim.ts';
import { RequestBody } from '../request/body.ts';
import { BodySearch } from '../request/body-search.ts';
import { findClient } from '../request/context.ts';
import type { RunDeps } from '../run-deps.ts';

type BackgroundDeps = Pick<RunDeps, 'turns' | 'attempts'>;

/**
 * Whether the gateway runs this request without its caller: it was asked to, an edge keeps the events, and not every node of the plan keeps such runs
 * itself. Anything that is no such request costs a comparison.
 */
export function isRunHere(job: Job, bytes: Uint8Array, { turns, attempts }: BackgroundDeps): boolean | Promise<boolean> {
  if (job.streamId === undefined || job.accessKeyId === undefined || job.operation !== 'generate' || turns.keptBy !== 'gateway') return false;
  const client = findClient(job);
  const body = RequestBody.ofJob({ job, client }, bytes);
  // An edge of another version looks for other words: then the body is searched here.
  if (!client.turns || !new BodySearch(body).contains('"background"') || body.topLevel('background') !== true) return false;
  const known = attempts.reroute.catalog.at(job.plan.revision);
  const judge = (snapshot: Awaited<typeof known>): boolean =>
    !job.plan.nodes.every(({ model, upstream, keys }) => passesVerbatim(job, resolveTarget(snapshot, { model, upstream, keyIndex: keys[0] ?? -1 })));
  return known instanceof Promise ? known.then(judge) : judge(known);
}

/** The same request with a stream as its reply, which is what an edge keeps. */
export const asStream = (job: Job): Job => ({ ...job, stream: true, streamForm: 'sse' });
