/** Makes the upstream's request out of the caller's: spliced when both speak the same protocol, translated otherwise. */
import { renderNamed } from '@model-gateway/body-rules';
import { GatewayError } from '@model-gateway/contracts/errors';
import { callBelow, findProtocol, passedRules, type SignatureRefusal, type Target, type UpstreamAdapter } from '@model-gateway/protocols';
import { runsForVerbatim } from '../hosted-tools/open-session.ts';
import { BodySearch } from '../request/body-search.ts';
import { passedCallOf } from '../request/passed.ts';
import { templateFacts } from '../request/template-facts.ts';
import { scriptOf } from '../scripts/run-script.ts';
import { isUntouched, order, runSteps } from './order.ts';
import { createSignatures } from './signatures.ts';
import type { PrepareContext, Step } from './step.ts';
import { printContent, type RequestContent, type UpstreamRequest, type UpstreamTarget } from './upstream-request.ts';
import { passesVerbatim } from './verbatim.ts';

/**
 * Throws GatewayError (or rejects with it) when the caller's request cannot be made sense of. A promise only when a step has to wait.
 * `signaturesRefused`: what the upstream refused about the signatures in this history; the request is built without it.
 */
export function prepare(current: PrepareContext, signaturesRefused?: SignatureRefusal): UpstreamRequest | Promise<UpstreamRequest> {
  const { body } = current;
  /** Let go when the request is ready. */
  const search = new BodySearch(body);
  let content: RequestContent | undefined;
  const target = targetOf(current, { search, signaturesRefused, readSent: () => content?.value ?? body.parse() });
  const finish = (made: RequestContent): UpstreamRequest => {
    search.forget();
    content = made;
    return complete(made, current);
  };
  const steps = stepsOf(current);
  const running = runSteps(startOf(target, current), current, steps);
  return running instanceof Promise ? running.then(finish) : finish(running);
}

function stepsOf(current: PrepareContext): readonly Step[] {
  if (current.plan.carried) return order.carried;
  if (isUntouched(current)) return order.untouched;
  return scriptOf(current.route, 'request_transform_after') === undefined ? order.before : order.after;
}

/** What only one preparation knows of its target. */
interface TargetOptions {
  search: BodySearch;
  signaturesRefused: SignatureRefusal | undefined;
  /** The request as sent, for the hash of its prefix. */
  readSent(): unknown;
}

function targetOf(current: PrepareContext, { search, signaturesRefused, readSent }: TargetOptions): UpstreamTarget {
  const { request, route, body, prepare: deps } = current;
  const protocol = findProtocol(route.protocol);
  const adapter = protocol?.upstream;
  if (!protocol || !adapter) throw new GatewayError('internal', { cause: new Error(`no upstream adapter for ${route.protocol}`) });
  const { job } = request;
  /** What this upstream is known to demand holds from the first call on. */
  const demanded = signaturesRefused ?? deps.signatures.refused.demanded(route);
  const passed = passedCallOf(job, route);
  const passes = passed !== null || passesVerbatim(job, route);
  const contains = (text: string): boolean => search.contains(text);
  const value = (key: string): Buffer | undefined => body.valueBytes(key);
  const isTaken = (): boolean => body.kind !== 'json' || (adapter.verbatim?.takes?.({ contains, value }, job.operation, route.target) ?? true);
  const rules = passed ? passedRules : passes && !runsForVerbatim(current, { adapter, route }) && isTaken() ? adapter.verbatim : undefined;
  const signatures = createSignatures(route, deps.signatures, adapter.signatureKind?.(route.target) ?? protocol.id, readSent);
  return {
    route,
    protocol,
    adapter,
    passed,
    verbatim: rules ?? null,
    context: {
      target: attemptTarget(current, adapter),
      operation: job.operation,
      stream: job.stream,
      openSignature: signaturesRefused?.about === 'signatures' ? () => null : signatures.open,
      ...(demanded && { signaturesRefused: demanded }),
      mintId: deps.mintId,
      contains,
      value,
      parse: () => body.parse(),
      ...(rules && { clientHeaders: job.headers }),
      ...(body.state && { state: body.state }),
      openPage: deps.hosted.openPage,
    },
    signatures,
    signaturesRefused,
  };
}

/** The route's target, with what is known of it only now. */
function attemptTarget(current: PrepareContext, { bodyHeaders }: UpstreamAdapter): Target {
  const { route, prepare: deps } = current;
  const refusedFlags = deps.refusedFlags.of(route);
  const customHeaders = bodyHeaders && renderNamed(deps.customHeaders(route.upstream), bodyHeaders, () => templateFacts(current));
  if (!refusedFlags && !customHeaders) return route.target;
  return { ...route.target, ...(refusedFlags && { refusedFlags }), ...(customHeaders && { customHeaders }) };
}

/** What the steps begin with: nothing, or the request that a script after the translation rerouted. */
function startOf(target: UpstreamTarget, { plan: { carried } }: PrepareContext): RequestContent {
  if (!carried) return { target, edits: [], value: undefined, printed: null };
  const { bytes, emulation, relaxedToolSchemas, bridge } = carried.request;
  return { target, edits: [], value: undefined, printed: bytes, emulation, relaxedToolSchemas, bridge };
}

function complete(content: RequestContent, { request: { job }, body, route, prepare: { network } }: PrepareContext): UpstreamRequest {
  const { value, printed } = content;
  const { adapter, context, passed, verbatim } = content.target;
  const endpoint = (job.operation === 'passthrough' ? callBelow : adapter.request)({
    target: context.target,
    operation: job.operation,
    stream: job.stream,
    body: () => value ?? (printed === null ? undefined : (JSON.parse(printed.toString()) as unknown)),
    ...(verbatim && {
      clientHeaders: job.headers,
      clientQuery: job.query,
      clientPath: job.path,
      ...(job.method !== undefined && { clientMethod: job.method }),
    }),
  });
  if (passed) return { ...content, endpoint, egress: network.egressOf(route.upstream), bytes: printContent(content, body) };
  // A form names its boundary, and nobody but its writer knows the type of raw bytes.
  if (verbatim && body.kind !== 'json') endpoint.headers['content-type'] = body.contentType;
  if (verbatim && job.streamForm === 'bytes') endpoint.headers['accept'] = '*/*';
  return { ...content, endpoint, egress: network.egressOf(route.upstream), bytes: printContent(content, body) };
}
