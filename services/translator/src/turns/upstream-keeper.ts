/** Calls to an upstream about a response that it keeps: with the account that made it, at the address of that account's model. */
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { TurnAtUpstream } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { findProtocol, type UpstreamAdapter, type UpstreamFault } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import { Pieces } from '@model-gateway/stream-framing';
import type { OutboundCall, OutboundHandlers, OutboundRequest } from '@model-gateway/upstream-client';
import { faultToError, outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import type { SendDeps } from '../attempt/deps.ts';
import { fixedHeaders } from '../attempt/upstream-headers.ts';
import { mayRenew, withRenewedToken } from '../attempt/with-renewed-token.ts';
import type { NetworkDeps } from '../prepare/deps.ts';

/** What such calls are made with. */
export interface KeeperDeps {
  readonly catalog: CatalogWatcher;
  readonly send: SendDeps;
  readonly network: NetworkDeps;
}

/** A call about a response. `path` begins with a slash, or is empty: it follows the response's own address. */
export interface KeeperCall {
  method: 'GET' | 'POST' | 'DELETE';
  id: string;
  path: string;
  /** Without `?`. */
  query: string;
}

/** Callbacks of a reply that passes as it comes; one of `end` and `failed` is the last. */
export interface KeeperReply {
  head(contentType: string): void;
  /** false: no more for now. */
  data(bytes: Buffer): boolean;
  end(): void;
  failed(error: GatewayError): void;
}

/** What callers may say about how a response is shown; nothing else of theirs reaches an upstream. */
const passed: ReadonlySet<string> = new Set(['include[]', 'include', 'include_obfuscation', 'starting_after', 'stream', 'after', 'limit', 'order']);
const maxErrorBytes = 64 * 1024;
const maxReplyBytes = 64 * 1024 * 1024;

/** Begins the call. Errors of the upstream become what a caller of a model would be answered. */
export function callKeeper(at: TurnAtUpstream, call: KeeperCall, reply: KeeperReply, deps: KeeperDeps): OutboundCall {
  const route = routeOf(at, deps);
  const adapter = findProtocol(route.protocol)?.upstream;
  if (!adapter) throw new GatewayError('internal', { cause: new Error(`no upstream adapter for ${route.protocol}`) });
  const calling = new Calling({ route, adapter, call, reply, deps });
  calling.start();
  return calling;
}

interface Called {
  readonly route: Route;
  readonly adapter: UpstreamAdapter;
  readonly call: KeeperCall;
  readonly reply: KeeperReply;
  readonly deps: KeeperDeps;
}

/** How a call ended; what the upstream did not refuse has passed to the reply. */
interface Ended {
  readonly status: number | null;
  readonly fault: UpstreamFault | null;
}

/** A call of which nothing has passed to its caller may be made a second time. */
class Calling implements OutboundCall {
  readonly #called: Called;
  #sent: OutboundCall | undefined;
  #aborted = false;

  constructor(called: Called) {
    this.#called = called;
  }

  start(): void {
    const { route, call, reply, deps } = this.#called;
    const { secrets } = deps.send;
    const clean = (text: string): string => secrets.redactor.redact(text);
    withRenewedToken<Ended>({
      route,
      deps: deps.send,
      subject: { response: call.id },
      isRefused: (ended) => mayRenew(route, ended),
      send: () => this.#send(),
    }).then(
      ({ status, fault }) => (fault ? reply.failed(refusal(status, fault, clean)) : reply.end()),
      (error: unknown) => reply.failed(toGatewayError(error)),
    );
  }

  pause(): void {
    this.#sent?.pause();
  }

  resume(): void {
    this.#sent?.resume();
  }

  abort(reason: unknown): void {
    this.#aborted = true;
    this.#sent?.abort(reason);
  }

  async #send(): Promise<Ended> {
    const { route, deps } = this.#called;
    await awaitCredential(route, deps.send.secrets);
    if (this.#aborted) throw new GatewayError('client_gone');
    return new Promise((resolve) => {
      this.#sent = deps.send.outbound.send(this.#request(), this.#handlers(resolve));
    });
  }

  #request(): OutboundRequest {
    const { route, adapter, call, deps } = this.#called;
    const { secrets } = deps.send;
    const base = adapter.request({ target: route.target, operation: 'generate', stream: false });
    const { 'content-type': _type, ...headers } = base.headers;
    return {
      method: call.method,
      url: addressOf(base.url, call),
      headers: { ...headers, ...credentialHeaders(route, adapter, headers, secrets), ...fixedHeaders(route.upstream, secrets) },
      timeouts: route.timeouts,
      egress: deps.network.egressOf(route.upstream),
    };
  }

  #handlers(resolve: (ended: Ended) => void): OutboundHandlers {
    const { adapter, reply, deps } = this.#called;
    const { redactor } = deps.send.secrets;
    let refused: { status: number; headers: Record<string, string>; words: Pieces; size: number } | undefined;
    return {
      head(status, replyHeaders) {
        if (status < 200 || status > 299) refused = { status, headers: replyHeaders, words: new Pieces(), size: 0 };
        else reply.head(replyHeaders['content-type'] ?? 'application/json');
      },
      data(bytes) {
        if (!refused) return void reply.data(bytes);
        refused.size += bytes.length;
        if (refused.size <= maxErrorBytes) refused.words.add(bytes);
      },
      end() {
        if (!refused) return resolve({ status: null, fault: null });
        const words = refused.size <= maxErrorBytes ? redactor.redact(refused.words.take().toString('utf8')) : '';
        resolve({ status: refused.status, fault: adapter.readError(refused.status, refused.headers, words) });
      },
      error: (fault) => resolve({ status: null, fault: outboundFault(fault, false) }),
    };
  }
}

/** A response that is gone upstream is as one that never was. */
function refusal(status: number | null, fault: UpstreamFault, clean: (text: string) => string): GatewayError {
  return status === 404 ? new GatewayError('not_found', { message: clean(fault.message) }) : faultToError(fault, { clean });
}

/** A response lies beneath the address that made it, which keeps its own query (`api-version`). */
function addressOf(url: string, { id, path, query }: KeeperCall): string {
  const [, endpoint = url, own = ''] = /^([^?]*?)\/*(?:\?(.*))?$/s.exec(url) ?? [];
  const kept = new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => passed.has(name))).toString();
  const all = [own, kept].filter((part) => part !== '').join('&');
  return `${endpoint}/${encodeURIComponent(id)}${path}${all === '' ? '' : `?${all}`}`;
}

/** The key entry that made the response, whatever became of the others. Throws 502 where it is gone. */
function routeOf({ model, upstream, account }: TurnAtUpstream, { catalog }: Pick<KeeperDeps, 'catalog'>): Route {
  const snapshot = catalog.current();
  const keys = snapshot?.upstreams.get(upstream)?.api_keys ?? [];
  const keyIndex = keys.findIndex(({ id }) => id === account);
  if (!snapshot?.models.has(model) || (account !== '' && keyIndex < 0))
    throw new GatewayError('upstream_unavailable', { message: 'The account that keeps this response is not configured any more.' });
  return resolveTarget(snapshot, { model, upstream, keyIndex });
}

/** The whole JSON answer. */
export function askKeeper(at: TurnAtUpstream, call: KeeperCall, deps: KeeperDeps): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    let size = 0;
    const asked = callKeeper(
      at,
      call,
      {
        head: () => undefined,
        data(bytes) {
          size += bytes.length;
          if (size > maxReplyBytes) asked.abort('reply too large');
          else pieces.add(bytes);
          return true;
        },
        end() {
          try {
            resolve(JSON.parse(pieces.take().toString('utf8')));
          } catch (cause) {
            reject(new GatewayError('upstream_bad_reply', { cause }));
          }
        },
        failed: reject,
      },
      deps,
    );
  });
}
