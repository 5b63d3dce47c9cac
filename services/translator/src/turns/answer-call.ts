/** Answers callers' calls on stored turns and conversations. They reach no model. */
import type { ServerStream } from '@model-gateway/bus';
import type { ProtocolId, TurnsCall } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { findProtocol } from '@model-gateway/protocols';
import { answerTaskCall } from '../tasks/task-calls.ts';
import type { CallAnswer } from './call-context.ts';
import { conversationCalls } from './conversation-calls.ts';
import type { TurnDeps } from './deps.ts';
import { turnCalls } from './turn-calls.ts';

type Stream = ServerStream<'translator.turns'>;

const answers = { ...turnCalls, ...conversationCalls };

/** What is refused where the gateway stores no turns; what it stored before may still be read and deleted. */
const addsToStore: ReadonlySet<TurnsCall['action']> = new Set(['create-conversation', 'update-conversation', 'add-conversation-items']);

/** Serves one call from the bus. */
export function serveTurnsCall(call: TurnsCall, body: Uint8Array, stream: Stream, deps: TurnDeps): void {
  const answering = isTaskCall(call)
    ? answerTaskCall(call, deps).then((text) => sendJson(text, stream))
    : answer(call, body, deps).then((answered) => send(answered, stream));
  answering.catch((cause: unknown) => {
    const error = toGatewayError(cause);
    if (error.code === 'internal') deps.logger.error({ call: call.id, error: error.cause ?? error }, 'defect in a call on stored turns');
    stream.fail(error);
  });
}

type Action = keyof typeof answers;

const isTaskCall = ({ action }: TurnsCall): boolean => action === 'get-task' || action === 'cancel-task';

async function answer(call: TurnsCall, body: Uint8Array, deps: TurnDeps): Promise<CallAnswer> {
  const turns = findProtocol(call.clientProtocol as ProtocolId)?.client?.turns;
  const serves = Object.hasOwn(answers, call.action) ? answers[call.action as Action] : undefined;
  if (!turns || !serves) throw new GatewayError('not_found');
  if (deps.keptBy === 'upstream' && addsToStore.has(call.action))
    throw new GatewayError('not_found', { message: 'Conversations are not stored here; send the items in input.' });
  return serves({ call, turns, deps, readBody: () => readJson(body) });
}

function readJson(body: Uint8Array): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch (cause) {
    throw new GatewayError('invalid_json', { cause });
  }
}

function send(answered: CallAnswer, stream: Stream): void {
  if ('relay' in answered) return answered.relay(stream);
  if ('resume' in answered) return stream.tail({ resume: answered.resume });
  sendJson(JSON.stringify(answered.json), stream);
}

function sendJson(text: string, stream: Stream): void {
  const bytes = Buffer.from(text, 'utf8');
  stream.whole({ status: 200, headers: { 'content-type': 'application/json', 'content-length': String(bytes.length) } }, bytes, {});
}
