/** Calls to an upstream about a response that it keeps: with the account that made it, at the address of that account's model. */
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { TurnAtUpstream } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { findProtocol } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import { Pieces } from '@model-gateway/stream-framing';
import type { OutboundCall } from '@model-gateway/upstream-client';
import { faultToError, outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import type { SendDeps } from '../attempt/deps.ts';
import { fixedHeaders } from '../attempt/upstream-headers.ts';
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
  const { outbound, secrets } = deps.send;
  const base = adapter.request({ target: route.target, operation: 'generate', stream: false });
  const { 'content-type': _type, ...headers } = base.headers;
  const credential = credentialHeaders(route, adapter, headers, secrets);
  let refused: { status: number; headers: Record<string, string>; words: Pieces; size: number } | undefined;
  return outbound.send(
    {
      method: call.method,
      url: `${base.url}/${encodeURIComponent(call.id)}${call.path}${queryOf(call.query)}`,
      headers: { ...headers, ...credential, ...fixedHeaders(route.upstream, secrets) },
      timeouts: route.timeouts,
      egress: deps.network.egressOf(route.upstream),
    },
    {
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
        if (!refused) return reply.end();
        const words = refused.size <= maxErrorBytes ? secrets.redactor.redact(refused.words.take().toString('utf8')) : '';
        reply.failed(refusal(refused.status, adapter.readError(refused.status, refused.headers, words), (text) => secrets.redactor.redact(text)));
      },
      error: (fault) => reply.failed(faultToError(outboundFault(fault, false), { clean: (text) => secrets.redactor.redact(text) })),
    },
  );
}

/** A response that is gone upstream is as one that never was. */
function refusal(status: number, fault: Parameters<typeof faultToError>[0], clean: (text: string) => string): GatewayError {
  return status === 404 ? new GatewayError('not_found', { message: clean(fault.message) }) : faultToError(fault, { clean });
}

function queryOf(query: string): string {
  const kept = [...new URLSearchParams(query)].filter(([name]) => passed.has(name));
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`;
}

/** Before the first call: the token of a login may have to be asked for. Throws as `callKeeper` does. */
export const prepareKeeper = (at: TurnAtUpstream, deps: KeeperDeps): Promise<unknown> | undefined => awaitCredential(routeOf(at, deps), deps.send.secrets);

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
export async function askKeeper(at: TurnAtUpstream, call: KeeperCall, deps: KeeperDeps): Promise<unknown> {
  await prepareKeeper(at, deps);
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
