/** Makes the upstream's request out of the caller's: spliced when both speak the same protocol, translated otherwise. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { findProtocol, type Protocol, type SignatureRefusal, type UpstreamAdapter, type UpstreamRequest, type VerbatimRules } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { Egress } from '@model-gateway/upstream-client';
import { createSignatures, type Signatures } from './attempt/signatures.ts';
import { passesVerbatim } from './attempt/unserved.ts';
import { BodySearch } from './body-search.ts';
import type { Call } from './call.ts';
import type { TranslatorContext } from './context.ts';
import type { Carried } from './prepare/carried.ts';
import { type Draft, printDraft } from './prepare/draft.ts';
import { order, runSteps } from './prepare/order.ts';
import { scriptOf } from './scripts/run-script.ts';

/** One attempt, ready to be sent. */
export interface Prepared extends Carried {
  route: Route;
  upstream: UpstreamAdapter;
  protocol: Protocol;
  /** Verbatim rules, when both sides speak this protocol; null: the reply is translated. */
  verbatim: VerbatimRules | null;
  request: UpstreamRequest;
  egress: Egress | undefined;
  /** A script sends the request, as it is now, on to this model; nothing is sent to this route. */
  rerouteTo: string | undefined;
  signatures: Signatures;
  /** Set on the retry after a refusal of signatures. */
  signaturesRefused: SignatureRefusal | undefined;
  sealSignature(signature: string): string;
}

/**
 * Throws GatewayError (or rejects with it) when the caller's request cannot be made sense of. A promise only when a step has to wait.
 * `signaturesRefused`: what the upstream refused about the signatures in this history; the request is built without it.
 */
export function prepare(call: Call, route: Route, translatorContext: TranslatorContext, signaturesRefused?: SignatureRefusal): Prepared | Promise<Prepared> {
  const protocol = findProtocol(route.protocol);
  const upstream = protocol?.upstream;
  if (!protocol || !upstream) throw new GatewayError('internal', { cause: new Error(`no upstream door for ${route.protocol}`) });
  const { job } = call;
  /** What this upstream is known to demand holds from the first call on. */
  const demanded = signaturesRefused ?? translatorContext.refusedSignatures.demanded(route);
  const refusedFlags = translatorContext.refusedFlags.of(route);
  const target = refusedFlags ? { ...route.target, refusedFlags } : route.target;
  const passes = passesVerbatim(job, route);
  /** Let go when the request is ready. */
  const search = new BodySearch(call);
  const contains = (text: string): boolean => search.contains(text);
  const value = (key: string): Buffer | undefined => call.valueBytes(key);
  const verbatim = passes && (upstream.verbatim?.takes?.({ contains, value }, job.operation) ?? true) ? (upstream.verbatim ?? null) : null;
  const signatures = createSignatures(route, translatorContext, upstream.signatureKind?.(route.target) ?? protocol.id, () => draft.body ?? call.parseBody());
  const draft: Draft = {
    call,
    route,
    translatorContext,
    upstream,
    verbatim,
    context: {
      target,
      operation: job.operation,
      stream: job.stream,
      openSignature: signaturesRefused?.about === 'signatures' ? () => null : signatures.open,
      ...(demanded && { signaturesRefused: demanded }),
      mintId: translatorContext.mintId,
      contains,
      value,
      parse: () => call.parseBody(),
      ...(passes && { clientHeaders: job.headers }),
    },
    edits: [],
    body: undefined,
    printed: call.carried?.body ?? null,
    emulation: call.carried?.emulation,
    relaxedToolSchemas: call.carried?.relaxedToolSchemas,
    bridge: call.carried?.bridge,
  };
  const finish = (): Prepared => {
    search.forget();
    const request = upstream.request({
      target,
      operation: job.operation,
      stream: job.stream,
      body: () => draft.body ?? (draft.printed === null ? undefined : (JSON.parse(draft.printed.toString()) as unknown)),
      ...(verbatim && { clientHeaders: job.headers, clientQuery: job.query, clientPath: job.path }),
    });
    const { emulation, relaxedToolSchemas, bridge } = draft;
    return {
      route,
      upstream,
      protocol,
      verbatim,
      request,
      egress: translatorContext.egressOf(route.upstream),
      body: printDraft(draft),
      emulation,
      relaxedToolSchemas,
      bridge,
      rerouteTo: draft.rerouteTo,
      signatures,
      signaturesRefused,
      sealSignature: signatures.seal,
    };
  };
  const waiting = runSteps(draft, call.carried ? order.carried : scriptOf(route, 'request_transform_after') === undefined ? order.before : order.after);
  return waiting ? waiting.then(finish) : finish();
}
