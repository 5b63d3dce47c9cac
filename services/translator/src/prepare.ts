/** Makes the upstream's request out of the caller's: spliced when both speak the same protocol, translated otherwise. */
import { GatewayError } from '@model-gateway/errors';
import { applyEdits } from '@model-gateway/json';
import { findProtocol, type Protocol, type UpstreamDoor, type UpstreamRequest, type VerbatimRules, type WriteRequestContext } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { sealer } from './attempt/signatures.ts';
import type { Call } from './call.ts';
import type { Room } from './room.ts';

/** One attempt, ready to be sent. */
export interface Prepared {
  route: Route;
  upstream: UpstreamDoor;
  protocol: Protocol;
  /** Rules of the verbatim passage, when both sides speak this protocol; null: the reply is translated. */
  verbatim: VerbatimRules | null;
  request: UpstreamRequest;
  body: Buffer;
  sealSignature(signature: string): string;
}

/** Throws GatewayError when the caller's request cannot be made sense of. */
export function prepare(call: Call, route: Route, room: Room): Prepared {
  const protocol = findProtocol(route.protocol);
  const upstream = protocol?.upstream;
  if (!protocol || !upstream) throw new GatewayError('internal', { cause: new Error(`no upstream door for ${route.protocol}`) });
  const { job } = call;
  const verbatim = job.clientProtocol === route.protocol ? (upstream.verbatim ?? null) : null;
  const signatures = sealer(route, room, protocol.id);
  const context: WriteRequestContext = {
    target: route.target,
    operation: job.operation,
    stream: job.stream,
    openSignature: signatures.open,
    mintId: room.mintId,
  };
  const request = upstream.request({
    target: route.target,
    operation: job.operation,
    stream: job.stream,
    ...(verbatim && { clientHeaders: job.headers, clientQuery: job.query, clientPath: job.path }),
  });
  const body = verbatim ? splice(call, verbatim, context) : translate(call, upstream, context);
  return { route, upstream, protocol, verbatim, request, body, sealSignature: signatures.seal };
}

function splice(call: Call, rules: VerbatimRules, context: WriteRequestContext): Buffer {
  const { edits, losses } = rules.requestEdits({
    ...context,
    contains: (text) => call.body.includes(text, 0, 'latin1'),
    parse: () => call.parseBody(),
  });
  call.lose(losses);
  if (edits.length === 0) return call.body;
  const bytes = applyEdits(call.body, edits, call.job.places);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function translate(call: Call, upstream: UpstreamDoor, context: WriteRequestContext): Buffer {
  const { conversation } = call.readRequest();
  const written = upstream.writeRequest(conversation, context);
  call.lose(written.losses);
  return Buffer.from(JSON.stringify(written.body), 'utf8');
}
