/** Calls on responses that their upstream keeps: passed on to it, and answered in its own shape. */
import type { ServerStream } from '@model-gateway/bus';
import type { TurnAtUpstream, TurnFacts } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { writeTurn } from './ask-store.ts';
import type { CallAnswer, CallContext } from './call-context.ts';
import { askKeeper, callKeeper, type KeeperCall } from './upstream-keeper.ts';

type Stream = ServerStream<'translator.turns'>;

export type KeptTurn = TurnFacts & { at: TurnAtUpstream };

export const isKept = (turn: TurnFacts): turn is KeptTurn => turn.at !== undefined;

/** The JSON answer, with the name for the model that its caller used. */
async function pass({ id, at, model }: KeptTurn, call: Omit<KeeperCall, 'id'>, { deps }: CallContext): Promise<{ json: unknown }> {
  const json = await askKeeper(at, { ...call, id }, deps.keeper);
  const named = typeof json === 'object' && json !== null && typeof (json as Record<string, unknown>)['model'] === 'string';
  return { json: named ? { ...json, model } : json };
}

export async function getKept(turn: KeptTurn, wantsStream: boolean, context: CallContext): Promise<CallAnswer> {
  const call = { method: 'GET', path: '', query: context.call.query } as const;
  if (!wantsStream) return pass(turn, call, context);
  return { relay: (stream) => relay(turn, { ...call, id: turn.id }, stream, context) };
}

export const cancelKept = (turn: KeptTurn, context: CallContext): Promise<CallAnswer> => pass(turn, { method: 'POST', path: '/cancel', query: '' }, context);

export const listKept = (turn: KeptTurn, context: CallContext): Promise<CallAnswer> =>
  pass(turn, { method: 'GET', path: '/input_items', query: context.call.query }, context);

/** Deleted there, and forgotten here. */
export async function deleteKept(turn: KeptTurn, context: CallContext): Promise<CallAnswer> {
  await pass(turn, { method: 'DELETE', path: '', query: '' }, context);
  await writeTurn(context.deps.bus, { kind: 'delete', owner: turn.owner, id: turn.id });
  return { json: context.turns.calls.deleted(turn.id) };
}

/** Events pass as they come, with the name for the model that their caller used. */
function relay(turn: KeptTurn, call: KeeperCall, stream: Stream, { deps }: CallContext): void {
  let begun = false;
  let left = '';
  const name = (text: string): string => text.replace(modelField, (_whole, before: string) => `${before}${JSON.stringify(turn.model)}`);
  const asked = callKeeper(
    turn.at,
    call,
    {
      head(contentType) {
        begun = true;
        stream.head({ status: 200, headers: { 'content-type': typeOf(contentType), 'cache-control': 'no-cache' } });
      },
      data(bytes) {
        left += bytes.toString('utf8');
        const end = left.lastIndexOf('\n\n');
        if (end < 0) return true;
        const more = stream.data(Buffer.from(name(left.slice(0, end + 2)), 'utf8'));
        left = left.slice(end + 2);
        if (!more) {
          asked.pause();
          stream.onWritable(() => asked.resume());
        }
        return more;
      },
      end() {
        if (left !== '') stream.data(Buffer.from(name(left), 'utf8'));
        stream.tail({});
      },
      failed: (error: GatewayError) => (begun ? stream.tail({}) : stream.fail(error)),
    },
    deps.keeper,
  );
  stream.onCancel(() => asked.abort('caller left'));
}

/** Nothing that a browser would show as a page, whatever the upstream calls it. */
const typeOf = (contentType: string): string => (/event-stream/i.test(contentType) ? 'text/event-stream; charset=utf-8' : 'application/json');

/** Of a response object; texts of models hold it with escaped quotes alone. */
const modelField = /("model":\s*)"(?:[^"\\]|\\.)*"/g;
