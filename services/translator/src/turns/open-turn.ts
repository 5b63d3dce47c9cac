/** What a request has to do with stored turns, before its attempts: its body with what it names, and the turn that its reply will be. */
import { internalPrefix, type Loss, type TurnFacts } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { ReplyTurn, StoredTurns, TurnReply, TurnWishes } from '@model-gateway/protocols';
import type { RequestBody } from '../request/body.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { TurnDeps } from './deps.ts';
import { type Expansion, expandRequest, noConversation } from './expand-request.ts';
import { notAdded, notStored } from './losses.ts';
import { registerOwner } from './register-owner.ts';
import { RunningTurn } from './running-turn.ts';
import { mintItemId, mintTurnId } from './turn-ids.ts';
import { TurnWriter } from './turn-writer.ts';
import type { UpstreamRegistration } from './upstream-registration.ts';

/** A request with what it names in its body. */
export interface OpenedRequest {
  readonly body: RequestBody;
  /** Declared by whatever attempt answers. */
  readonly losses: readonly Loss[];
  /** Absent: nothing is stored. */
  readonly turn?: RunningTurn;
  /** The upstream keeps it: who owns it is noted. */
  readonly registration?: UpstreamRegistration;
  /** Nothing is stored, though it was asked for. */
  readonly unstored?: Loss;
}

/** Throws what the caller is answered instead. */
export async function openTurn(current: CurrentRequest, wishes: TurnWishes, deps: TurnDeps): Promise<OpenedRequest> {
  const { job, client } = current.request;
  if (wishes.background && !wishes.store && job.operation === 'generate')
    throw new GatewayError('invalid_request', { param: 'background', message: 'A response that runs in the background has to be stored: leave `store` out.' });
  const expansion = await expandRequest(current, wishes, deps);
  const { body, losses } = expansion;
  if (job.operation !== 'generate') return { body, losses };
  const unkept = wishes.conversation === undefined ? losses : [...losses, notAdded];
  if (!wishes.store) return { body, losses: unkept };
  // The upstream keeps it, under an id of its own, and knows no conversation of the gateway's.
  if (wishes.background && !current.request.background)
    return { body, losses: unkept, ...registerOwner(current, { parent: expansion.kept?.turn ?? null, background: true }, deps) };
  // An edge of an earlier version tells no ids; the console's own tests have none.
  if (job.accessKeyId === undefined || !client.turns) return { body, losses, ...(!job.accessKey.startsWith(internalPrefix) && { unstored: notStored }) };
  const turn = createTurn(current, { wishes, expansion, owner: job.accessKeyId, turns: client.turns }, deps);
  if (wishes.conversation === undefined && !turn.running.background) return { body, losses, turn: turn.running };
  await beginNow(turn, wishes);
  return { body, losses, turn: turn.running };
}

interface TurnSources {
  wishes: TurnWishes;
  expansion: Expansion;
  owner: string;
  turns: StoredTurns;
}

interface CreatedTurn {
  running: RunningTurn;
  writer: TurnWriter;
  begun: () => object;
}

function createTurn({ request, body }: CurrentRequest, { wishes, expansion, owner, turns }: TurnSources, deps: TurnDeps): CreatedTurn {
  const { job } = request;
  const background = request.background !== undefined;
  const repeats = job.socket?.repeats;
  const reply: ReplyTurn = {
    id: mintTurnId(deps.mintId, turns.idPrefix),
    previous: repeats?.turn ?? expansion.parent,
    conversation: wishes.conversation ?? null,
    store: true,
    background,
  };
  const facts: TurnFacts = {
    id: reply.id,
    owner,
    parent: reply.previous,
    conversation: reply.conversation,
    model: job.requestedModel,
    status: background ? 'queued' : 'in_progress',
    createdAt: job.startedAt,
    background,
    holder: deps.holder,
    requestId: job.id,
    ...(job.streamId !== undefined && { stream: job.streamId }),
  };
  const form: TurnReply = { form: job.streamForm, model: job.requestedModel, createdAt: Math.floor(job.startedAt / 1000), body: body.parse() };
  // Items that a socket repeats from its memory are those of earlier turns.
  const input = (): unknown[] => turns.inputItems(body.parse(), (prefix) => mintItemId(deps.mintId, prefix), expansion.items).slice(repeats?.items ?? 0);
  const writer = new TurnWriter(facts, { input }, deps);
  const begun = (): object => ({ ...(turns.queued(reply, form) as object), status: facts.status });
  const running = new RunningTurn({ facts, reply, observer: turns.createObserver(reply, form), begun, writer, running: deps.running });
  return { running, writer, begun };
}

const unstorable = 'A response that runs in the background has to be stored, and the stored responses of this access key take up all the room that they may.';

/** A conversation takes one request at a time, and a run without a caller is nothing without the store: both wait for it. */
async function beginNow({ running, writer, begun }: CreatedTurn, { conversation }: TurnWishes): Promise<void> {
  try {
    const { stored, reason } = await writer.beginOrThrow(begun());
    if (stored) return;
    if (reason === 'locked') throw new GatewayError('conversation_locked', { param: 'conversation' });
    if (reason === 'missing' && conversation !== undefined) throw noConversation(conversation);
    if (running.background) throw new GatewayError('invalid_request', { param: 'background', message: unstorable });
  } catch (error) {
    await running.discard();
    throw error;
  }
}
