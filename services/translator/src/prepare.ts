/** Makes the upstream's request out of the caller's: spliced when both speak the same protocol, translated otherwise. */
import { GatewayError } from '@model-gateway/errors';
import type { Egress } from '@model-gateway/outbound';
import {
  findProtocol,
  type ProofRefusal,
  type Protocol,
  type ReplyEmulation,
  type ToolBridge,
  type UpstreamDoor,
  type UpstreamRequest,
  type VerbatimRules,
} from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { createProofs, type Proofs } from './attempt/signatures.ts';
import { passesVerbatim } from './attempt/unserved.ts';
import { BodySearch } from './body-search.ts';
import type { Call } from './call.ts';
import { type Draft, printDraft } from './prepare/draft.ts';
import { order, runSteps } from './prepare/order.ts';
import type { Room } from './room.ts';
import { scriptOf } from './scripts/run-script.ts';

/** One attempt, ready to be sent. */
export interface Prepared {
  route: Route;
  upstream: UpstreamDoor;
  protocol: Protocol;
  /** Rules of the verbatim passage, when both sides speak this protocol; null: the reply is translated. */
  verbatim: VerbatimRules | null;
  request: UpstreamRequest;
  egress: Egress | undefined;
  body: Buffer;
  /** How the reply gives what the request asked for by other means. */
  emulation: ReplyEmulation | undefined;
  /** The caller's schemas of tools that were sent with wider ones. */
  widenedTools: ReadonlyMap<string, unknown> | undefined;
  /** Puts names and kinds of tools back in the reply's calls; undefined when the request changed none. */
  bridge: ToolBridge | undefined;
  /** A script sends the request, as it is now, on to this model; nothing is sent to this route. */
  elsewhere: string | undefined;
  proofs: Proofs;
  /** Set on the retry after a refusal of proofs. */
  proofsRefused: ProofRefusal | undefined;
  sealSignature(signature: string): string;
}

/**
 * Throws GatewayError (or rejects with it) when the caller's request cannot be made sense of. A promise only when a step has to wait.
 * `proofsRefused`: what the upstream did not take about the proofs of this history; it is asked without that.
 */
export function prepare(call: Call, route: Route, room: Room, proofsRefused?: ProofRefusal): Prepared | Promise<Prepared> {
  const protocol = findProtocol(route.protocol);
  const upstream = protocol?.upstream;
  if (!protocol || !upstream) throw new GatewayError('internal', { cause: new Error(`no upstream door for ${route.protocol}`) });
  const { job } = call;
  /** What this upstream is known to demand holds from the first call on. */
  const demanded = proofsRefused ?? room.refusedProofs.demanded(route);
  const refusedFlags = room.refusedFlags.of(route);
  const target = refusedFlags ? { ...route.target, refusedFlags } : route.target;
  const passes = passesVerbatim(job, route);
  /** Let go when the request is ready. */
  const search = new BodySearch(call);
  const contains = (text: string): boolean => search.contains(text);
  const value = (key: string): Buffer | undefined => call.valueBytes(key);
  const verbatim = passes && (upstream.verbatim?.takes?.({ contains, value }, job.operation) ?? true) ? (upstream.verbatim ?? null) : null;
  const proofs = createProofs(route, room, upstream.proofKind?.(route.target) ?? protocol.id, () => draft.body ?? call.parseBody());
  const draft: Draft = {
    call,
    route,
    room,
    upstream,
    verbatim,
    context: {
      target,
      operation: job.operation,
      stream: job.stream,
      openSignature: proofsRefused?.about === 'proofs' ? () => null : proofs.open,
      ...(demanded && { proofsRefused: demanded }),
      mintId: room.mintId,
      contains,
      value,
      parse: () => call.parseBody(),
      ...(passes && { clientHeaders: job.headers }),
    },
    edits: [],
    body: undefined,
    printed: call.carried?.body ?? null,
    emulation: call.carried?.emulation,
    widenedTools: call.carried?.widenedTools,
    bridge: call.carried?.bridge,
  };
  const finish = (): Prepared => {
    search.forget();
    const request = upstream.request({
      target,
      operation: job.operation,
      stream: job.stream,
      ...(verbatim && { clientHeaders: job.headers, clientQuery: job.query, clientPath: job.path }),
    });
    const { emulation, widenedTools, bridge } = draft;
    return {
      route,
      upstream,
      protocol,
      verbatim,
      request,
      egress: room.egressOf(route.upstream),
      body: printDraft(draft),
      emulation,
      widenedTools,
      bridge,
      elsewhere: draft.elsewhere,
      proofs,
      proofsRefused,
      sealSignature: proofs.seal,
    };
  };
  const waiting = runSteps(draft, call.carried ? order.carried : scriptOf(route, 'request_transform_after') === undefined ? order.before : order.after);
  return waiting ? waiting.then(finish) : finish();
}
