/** Calls on one stored turn. */
import type { TurnFacts } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { lookAgain, readTurns, writeTurn } from './ask-store.ts';
import type { AnswerCall, CallContext } from './call-context.ts';
import { cancelKept, deleteKept, getKept, isKept, listKept } from './kept-calls.ts';
import { ageOf, storedIds } from './turn-ids.ts';

/** What is repeated of an id to its caller. */
const maxNamed = 128;

interface FoundTurn {
  turn: TurnFacts;
  response: unknown;
}

/** The same whether it never was there, was deleted, is another key's, or could not be an id. */
const noTurn = ({ call }: CallContext): GatewayError =>
  new GatewayError('not_found', { message: `Response with id '${(call.target ?? '').slice(0, maxNamed)}' not found.` });

/** How long the end of a turn, which its caller may have seen already, is waited for on its way to a busy store. */
const endOnItsWayMs = 2_000;

async function find(context: CallContext, waitMs = 0): Promise<FoundTurn> {
  const { idPrefix } = context.turns;
  const ids = storedIds(context.call.target ?? '', idPrefix);
  const [first] = ids;
  const found = first === undefined ? undefined : await lookAgain(ageOf(first, idPrefix), () => findOne(ids, waitMs, context));
  if (!found || found === 'deleted') throw noTurn(context);
  return found;
}

async function findOne(ids: readonly string[], waitMs: number, { call, deps }: CallContext): Promise<FoundTurn | 'deleted' | undefined> {
  for (const id of ids) {
    const { found, content } = await readTurns(deps.bus, { kind: 'turn', owner: call.owner, id, waitMs });
    if (found.found && found.turn) return { turn: found.turn, response: content };
    if (found.deleted) return 'deleted';
  }
  return undefined;
}

const get: AnswerCall = async (context) => {
  const { call, turns } = context;
  const { stream, after } = turns.calls.readResume(call.query);
  const { turn, response } = await find(context, stream ? 0 : endOnItsWayMs);
  if (isKept(turn)) return getKept(turn, stream, context);
  if (stream) {
    if (turn.stream === undefined) throw new GatewayError('stream_expired');
    return { resume: { stream: turn.stream, after: after ?? -1 } };
  }
  // A turn whose beginning is all that is known of it, written by an earlier version.
  if (response === undefined || response === null) throw noTurn(context);
  return { json: response };
};

const remove: AnswerCall = async (context) => {
  const { call, turns, deps } = context;
  const { turn } = await find(context);
  if (isKept(turn)) return deleteKept(turn, context);
  const named = { owner: call.owner, id: turn.id };
  // A run that nobody can ask for any more is for nobody.
  if (turn.background) await writeTurn(deps.bus, { kind: 'cancel', ...named });
  const { stored } = await writeTurn(deps.bus, { kind: 'delete', ...named });
  if (!stored) throw noTurn(context);
  return { json: turns.calls.deleted(turn.id) };
};

const cancel: AnswerCall = async (context) => {
  const { call, deps } = context;
  const { turn } = await find(context);
  if (isKept(turn)) return cancelKept(turn, context);
  if (!turn.background)
    throw new GatewayError('invalid_request', { message: 'Only a response that was created with `background` set to true can be cancelled.' });
  const { stored, reason } = await writeTurn(deps.bus, { kind: 'cancel', owner: call.owner, id: turn.id });
  if (!stored && reason === 'missing') throw noTurn(context);
  return { json: (await find(context)).response };
};

const inputItems: AnswerCall = async (context) => {
  const { call, turns, deps } = context;
  const wishes = turns.calls.readList(call.query);
  const { turn } = await find(context);
  if (isKept(turn)) return listKept(turn, context);
  const { found, content } = await readTurns(deps.bus, { kind: 'input-items', owner: call.owner, id: turn.id });
  if (!found.found) throw noTurn(context);
  return { json: turns.calls.page(Array.isArray(content) ? content : [], wishes) };
};

export const turnCalls = { get, delete: remove, cancel, 'input-items': inputItems } as const satisfies Record<string, AnswerCall>;
