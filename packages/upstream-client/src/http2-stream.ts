/** One call on an HTTP/2 connection, driven by Node's own client and reported by the callbacks that undici has for HTTP/1.1. */
import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import type { Dispatcher } from 'undici';
import { expectSocket } from './request-socket.ts';
import type { UpstreamCall } from './upstream-call.ts';

/** A request as it is handed to a transport. */
export interface SentRequest {
  method: string;
  path: string;
  /** Name, value, name, value …; names in lower case. */
  headers: string[];
  body: Uint8Array | readonly Uint8Array[] | null;
}

/** `unread`: the server says that it has not looked at the request, which may be sent again without being run twice. */
export type StreamEnd = 'over' | 'unread';

/** Sessions whose end was reported by a call: it counts against the upstream once, however many calls it had. */
const reported = new WeakSet<ClientHttp2Session>();

const isGone = (session: ClientHttp2Session): boolean => session.destroyed || session.socket?.destroyed === true;

function headersOf({ method, path, headers, body }: SentRequest, authority: string): OutgoingHttpHeaders {
  const sent: OutgoingHttpHeaders = { ':method': method, ':scheme': 'https', ':authority': authority, ':path': path };
  for (let i = 0; i + 1 < headers.length; i += 2) sent[headers[i] as string] = headers[i + 1];
  if (body !== null && sent['content-length'] === undefined) sent['content-length'] = String((body as Uint8Array).length);
  return sent;
}

/**
 * Sends a request on a session that can take one. `ended` is called once, when the stream is closed; with `unread` nothing was reported to the
 * call but that it began. `mayRepeat` false: a refusal is reported as a broken connection.
 */
export function sendOnSession(
  session: ClientHttp2Session,
  { request, call, mayRepeat }: { request: SentRequest; call: UpstreamCall; mayRepeat: boolean },
  authority: string,
  ended: (how: StreamEnd) => void,
): void {
  let stream: ClientHttp2Stream | undefined;
  let settled = false;
  let paused = false;
  const controller = {
    rawHeaders: null,
    rawTrailers: null,
    aborted: false,
    paused: false,
    reason: null,
    pause() {
      paused = true;
      stream?.pause();
    },
    resume() {
      paused = false;
      stream?.resume();
    },
    abort() {
      settled = true;
      if (stream === undefined || stream.closed) return;
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy();
    },
  } as unknown as Dispatcher.DispatchController;

  call.onRequestStart(controller);
  // Its socket is not its own.
  expectSocket(undefined);
  if (call.ended) return ended('over');
  try {
    stream = session.request(headersOf(request, authority), { endStream: request.body === null });
  } catch (error) {
    // A connection that is on its way out takes no more streams.
    const isOnItsWay = (error as NodeJS.ErrnoException).code === 'ERR_HTTP2_GOAWAY_SESSION' || isGone(session) || session.closed;
    if (isOnItsWay && mayRepeat) return ended('unread');
    call.onResponseError(controller, error as Error);
    return ended('over');
  }
  if (paused) stream.pause();
  readReply(stream, session, {
    head: (status, headers) => call.onResponseStart(controller, status, headers as never),
    data: (chunk) => void call.onResponseData(controller, chunk),
    end() {
      if (settled) return;
      settled = true;
      call.onResponseEnd();
    },
    broken(error, isUnread) {
      if (!settled && isUnread && mayRepeat) return ended('unread');
      if (!settled) {
        settled = true;
        call.onResponseError(controller, error, isGone(session) && reported.has(session));
        if (isGone(session)) reported.add(session);
      }
      ended('over');
    },
    closed: () => ended('over'),
  });
  writeBody(stream, request.body);
}

function writeBody(stream: ClientHttp2Stream, body: SentRequest['body']): void {
  if (body === null) return;
  if (body instanceof Uint8Array) return void stream.end(body);
  for (const piece of body) stream.write(piece);
  stream.end();
}

interface ReplyReceiver {
  head(status: number, headers: IncomingHttpHeaders): void;
  data(chunk: Buffer): void;
  /** The whole reply was read. */
  end(): void;
  /** The stream closed without a whole reply. One of this and `closed` comes, last of all. */
  broken(error: Error, isUnread: boolean): void;
  closed(): void;
}

/** The last stream that a GOAWAY has named, by session: those beyond it were not read, whatever its code. */
const lastRead = new WeakMap<ClientHttp2Session, number>();

/** Has to be called before the first request on the session. */
export function noteGoaway(session: ClientHttp2Session): void {
  session.on('goaway', (_code, last) => void lastRead.set(session, last));
}

/**
 * Node ends the reply of a reset stream as if it were whole, with some codes without an error. The difference: the stream is closed already
 * when the end of its data is put into it. And with a connection it drops what replies have not handed on yet, so that a reply whose end has
 * come is handed on at once, paused or not: no more than its window, which is in memory anyway.
 */
function readReply(stream: ClientHttp2Stream, session: ClientHttp2Session, reply: ReplyReceiver): void {
  let whole = false;
  let settled = false;
  let answered = false;
  let failure: Error | undefined;
  // A server that answers without reading the request may reset the stream before it has said that its reply is whole.
  let missing = Number.NaN;
  let handingOn = false;
  const take = (chunk: Buffer): void => {
    missing -= chunk.length;
    reply.data(chunk);
  };
  const finish = (): void => {
    if (!(whole || missing === 0) || !answered || settled) return;
    settled = true;
    reply.end();
    // The upstream answered without having read the request: nobody needs the rest of it.
    if (!stream.writableFinished) stream.close(constants.NGHTTP2_CANCEL);
  };
  const handOnWhole = (): void => {
    if (!whole || !answered || settled) return;
    handingOn = true;
    for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) take(chunk);
    handingOn = false;
    finish();
  };
  const push = stream.push;
  stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null && !stream.closed) whole = true;
    const takesMore = push.call(stream, chunk, encoding);
    if (chunk === null) handOnWhole();
    return takesMore;
  };
  stream.on('response', (headers) => {
    answered = true;
    const { ':status': status = 0, ...rest } = headers;
    missing = Number(rest['content-length'] ?? Number.NaN);
    reply.head(Number(status), rest);
    handOnWhole();
  });
  stream.on('data', (chunk: Buffer) => {
    if (!handingOn) take(chunk);
  });
  stream.on('end', finish);
  stream.on('error', (error) => {
    failure = error;
  });
  stream.on('close', () => {
    if (settled) return reply.closed();
    settled = true;
    const isUnread =
      !answered && (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || (stream.id ?? 0) > (lastRead.get(session) ?? Number.POSITIVE_INFINITY));
    reply.broken(failure ?? new Error(isGone(session) ? 'the connection was closed' : `the stream was reset with code ${stream.rstCode}`), isUnread);
  });
}
