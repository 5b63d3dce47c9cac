/** Asks an upstream about a task, with the account that took it and at the address of that account's model. */
import type { TaskFacts } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { TaskReply, UpstreamFault, UpstreamTaskCodec } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import { faultToError, outboundFault } from '../attempt/classify.ts';
import { awaitCredential, credentialHeaders } from '../attempt/credential.ts';
import { fixedHeaders } from '../attempt/upstream-headers.ts';
import { askWhole } from '../attempt/whole-answer.ts';
import { mayRenew, withRenewedToken } from '../attempt/with-renewed-token.ts';
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
  const { secrets } = deps.send;
  const clean = (text: string): string => secrets.redactor.redact(text).replaceAll(task.upstreamTask, task.id);
  const { text, status, fault } = await withRenewedToken<Asked>({
    route,
    deps: deps.send,
    subject: { task: task.id },
    isRefused: (asked) => mayRenew(route, asked),
    async send() {
      await awaitCredential(route, secrets);
      const { method, url, headers } = codec.request(route.target, task.upstreamTask, action);
      const credential = credentialHeaders(route, adapter, headers, secrets);
      const request = {
        method,
        url,
        headers: { ...headers, ...credential, ...fixedHeaders(route.upstream, secrets) },
        timeouts: { ...route.timeouts, total_ms: 30_000 },
        egress: deps.network.egressOf(route.upstream),
      };
      const { status, headers: replyHeaders, body, fault } = await askWhole(deps.send.outbound, request, { maxBytes });
      if (fault) return { status, text: '', fault: outboundFault(fault, false) };
      const text = body.toString('utf8');
      return { status, text, fault: status < 200 || status > 299 ? adapter.readError(status, replyHeaders, clean(text)) : null };
    },
  });
  if (fault) throw faultToError(fault, { clean });
  try {
    return { ...read(text, task, codec), httpStatus: status };
  } catch (cause) {
    throw new GatewayError('upstream_bad_reply', { cause });
  }
}

/** How the upstream answered. Refused: 400 for what cannot be cancelled, and such; everything else is about the account, or the upstream itself. */
interface Asked {
  status: number;
  text: string;
  fault: UpstreamFault | null;
}

function read(text: string, { id }: TaskFacts, codec: UpstreamTaskCodec): TaskReply & { text: string } {
  const body = JSON.parse(text) as unknown;
  return { ...codec.read(body), text: JSON.stringify(codec.withId(body, id)) };
}
