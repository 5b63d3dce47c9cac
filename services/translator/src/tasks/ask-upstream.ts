/** Asks an upstream about a task, with the account that took it and at the address of that account's model. */
import type { TaskFacts } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { TaskReply, UpstreamTaskCodec } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import { Pieces } from '@model-gateway/stream-framing';
import { faultToError, outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import { fixedHeaders } from '../attempt/upstream-headers.ts';
import type { KeeperDeps } from '../turns/upstream-keeper.ts';
import type { UpstreamAnswer } from './deps.ts';
import { findAdapter } from './find-adapter.ts';

const maxBytes = 1024 * 1024;

const accountGone = (): GatewayError => new GatewayError('task_gone');

/** Throws 410 where the account or its model is not configured any more. */
function routeOf({ at: { model, upstream, account } }: TaskFacts, { catalog }: Pick<KeeperDeps, 'catalog'>): Route {
  const snapshot = catalog.current();
  if (!snapshot) throw new GatewayError('not_ready');
  const keys = snapshot.upstreams.get(upstream)?.api_keys;
  const keyIndex = keys?.findIndex(({ id }) => id === account) ?? -1;
  if (!keys || !snapshot.models.has(model) || (account !== '' && keyIndex < 0)) throw accountGone();
  return resolveTarget(snapshot, { model, upstream, keyIndex });
}

/** Errors of the upstream become what a caller of a model would be answered; one who has no such task says so in a reply. */
export async function askUpstream(task: TaskFacts, action: 'cancel' | undefined, deps: KeeperDeps): Promise<UpstreamAnswer> {
  const route = routeOf(task, deps);
  const adapter = findAdapter(route);
  const codec = adapter?.tasks;
  if (!codec) throw accountGone();
  const { outbound, secrets } = deps.send;
  const { method, url, headers } = codec.request(route.target, task.upstreamTask, action);
  await awaitCredential(route, secrets);
  const credential = credentialHeaders(route, adapter, headers, secrets);
  const clean = (text: string): string => secrets.redactor.redact(text).replaceAll(task.upstreamTask, task.id);
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    let size = 0;
    let httpStatus = 0;
    let replyHeaders: Record<string, string> = {};
    const sent = outbound.send(
      {
        method,
        url,
        headers: { ...headers, ...credential, ...fixedHeaders(route.upstream, secrets) },
        timeouts: { ...route.timeouts, total_ms: 30_000 },
        egress: deps.network.egressOf(route.upstream),
      },
      {
        head(status, given) {
          httpStatus = status;
          replyHeaders = given;
        },
        data(chunk) {
          size += chunk.length;
          if (size <= maxBytes) pieces.add(chunk);
        },
        end() {
          const text = size <= maxBytes ? pieces.take().toString('utf8') : '';
          // Refused: 400 for what cannot be cancelled, and such; everything else is about the account, or the upstream itself.
          if (httpStatus < 200 || httpStatus > 299) return reject(faultToError(adapter.readError(httpStatus, replyHeaders, clean(text)), { clean }));
          try {
            resolve({ ...read(text, task, codec), httpStatus });
          } catch (cause) {
            reject(new GatewayError('upstream_bad_reply', { cause }));
          }
        },
        error: (fault) => reject(faultToError(outboundFault(fault, false), { clean })),
      },
    );
    void sent;
  });
}

function read(text: string, { id }: TaskFacts, codec: UpstreamTaskCodec): TaskReply & { text: string } {
  const body = JSON.parse(text) as unknown;
  return { ...codec.read(body), text: JSON.stringify(codec.withId(body, id)) };
}
