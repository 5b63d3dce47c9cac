/** One attempt at a session: the handshake with an upstream, and what it says first. */

import { accessKeyHash, renderHeaders, type TemplateFacts } from '@model-gateway/body-rules';
import type { RealtimeJob } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import { outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import { headersOf } from '../attempt/upstream-headers.ts';
import { awaitSession } from './await-session.ts';
import type { DialContext, Dialled } from './dialled.ts';

const connectMs = 10_000;

/** `onGiveUp` receives what gives the attempt up; nothing is reported after that. */
export async function dial(context: DialContext, onGiveUp: (giveUp: () => void) => void): Promise<Dialled> {
  // What keeps the token from being known is said by the headers.
  await (async () => awaitCredential(context.route, context.deps.secrets))().catch(() => undefined);
  return handshake(context, onGiveUp);
}

function handshake(context: DialContext, onGiveUp: (giveUp: () => void) => void): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    let headers: Record<string, string>;
    const { job, route, realtime, deps } = context;
    const { url, headers: own } = realtime.connect({ target: route.target, clientHeaders: job.headers, version: job.version });
    try {
      headers = headersFor(context, own);
    } catch (error) {
      if (!isGatewayError(error) || error.code !== 'upstream_credential') return reject(error);
      return resolve({ fault: { class: 'credential', code: 'unreadable_key', message: 'the stored key cannot be opened' }, status: null });
    }
    const request = {
      url,
      headers,
      egress: deps.egressOf(route.upstream),
      handshakeMs: route.timeouts.connect_ms ?? connectMs,
      maxPayload: job.maxFrameBytes,
    };
    const giveUp = deps.outbound.openWebSocket(request, {
      opened(socket) {
        context.accepted();
        onGiveUp(() => socket.terminate());
        awaitSession(socket, context, resolve);
      },
      refused: (status, replyHeaders, body) => resolve({ fault: context.upstream.readError(status, replyHeaders, body), status }),
      failed(fault) {
        // The connection was there: another key may lead to a healthier part of the upstream.
        const read = outboundFault(fault, false);
        resolve({ fault: fault.phase === 'first-byte' && fault.class === 'reset' ? { ...read, class: 'server' } : read, status: null });
      },
    });
    onGiveUp(giveUp);
  });
}

/** The protocol's own, then the credential, then the upstream's custom headers, which override both. */
function headersFor({ job, route, upstream, deps }: DialContext, own: Record<string, string>): Record<string, string> {
  const headers = { ...own };
  Object.assign(headers, credentialHeaders(route, upstream, headers, deps.secrets));
  renderHeaders(headersOf(route.upstream, deps.secrets), () => factsOf(job), headers);
  return headers;
}

const factsOf = (job: RealtimeJob): TemplateFacts => ({
  requestId: job.clientRequestId ?? '',
  accessKeyName: job.accessKey,
  accessKeyGroup: job.keyGroup,
  accessKeyHash: () => accessKeyHash(job.accessKey),
  systemPromptHash: () => '',
  header: (name) => (Object.hasOwn(job.headers, name) ? job.headers[name] : undefined),
});
