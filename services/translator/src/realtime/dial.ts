/** One attempt at a session: the handshake with an upstream, and its first frame. */

import { accessKeyHash, renderHeaders, type TemplateFacts } from '@model-gateway/body-rules';
import type { RealtimeJob } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { RealtimeAdapter, UpstreamAdapter, UpstreamFault } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { WebSocketHandlers } from '@model-gateway/upstream-client';
import { outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import { headersOf } from '../attempt/upstream-headers.ts';
import type { RealtimeDeps } from './deps.ts';

export type UpstreamSocket = Parameters<WebSocketHandlers['opened']>[0];

/** A frame of either side's. */
export interface Frame {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

export interface DialContext {
  readonly job: RealtimeJob;
  readonly route: Route;
  readonly upstream: UpstreamAdapter;
  readonly realtime: RealtimeAdapter;
  readonly deps: RealtimeDeps;
  /** The caller's frame without which the upstream says nothing. */
  readonly opening: Frame | null;
  /** The upstream has answered the handshake with 101. */
  accepted(): void;
}

/** `takeOver` returns the frames that came so far and removes the listeners. The socket is paused. */
export type Dialled = { readonly socket: UpstreamSocket; takeOver(): readonly Frame[] } | { readonly fault: UpstreamFault; readonly status: number | null };

const connectMs = 10_000;
const firstFrameMs = 15_000;

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
        awaitFirst(socket, context, resolve);
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

/** The session exists with the first frame that is no error; until then the upstream may still be exchanged for another. */
function awaitFirst(socket: UpstreamSocket, { route, realtime, opening }: DialContext, resolve: (dialled: Dialled) => void): void {
  const frames: Frame[] = [];
  const stopListening = (): void => {
    socket.off('message', onMessage);
    socket.off('close', onClose);
  };
  const fail = (fault: UpstreamFault): void => {
    clearTimeout(late);
    stopListening();
    socket.terminate();
    resolve({ fault, status: 101 });
  };
  const late = setTimeout(
    () => fail({ class: 'timeout', code: 'timeout_first-byte', message: 'The upstream began no session in time.' }),
    route.timeouts.first_byte_ms ?? firstFrameMs,
  );
  const onMessage = (data: Buffer, isBinary: boolean): void => {
    // More frames may have come with the first.
    if (frames.push({ bytes: data, isBinary }) > 1) return;
    const notice = isBinary && !realtime.jsonInBinary ? null : realtime.readNotice(data);
    // Where nothing that the caller sent has reached the upstream, whatever it finds wrong, another may do better.
    if (notice?.kind === 'error') return fail(notice.fault.class === 'caller' && !opening ? { ...notice.fault, class: 'server' } : notice.fault);
    clearTimeout(late);
    socket.pause();
    resolve({
      socket,
      takeOver() {
        stopListening();
        return frames;
      },
    });
  };
  const onClose = (code: number, reason: Buffer): void => {
    const said = realtime.readClose?.(code, reason.toString('utf8'));
    fail({ class: 'server', message: 'The upstream closed the session before it began.', ...said, code: `closed_${code}` });
  };
  // `close` follows.
  socket.on('error', () => {});
  socket.on('message', onMessage);
  socket.on('close', onClose);
  if (opening) socket.send(realtime.rewrite(opening.bytes, route.target), { binary: opening.isBinary });
  socket.resume();
}
