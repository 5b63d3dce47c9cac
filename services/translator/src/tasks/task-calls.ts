/** Answers callers who ask about a task, or want it stopped. */
import type { TaskFacts, TurnsCall } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { isGranted, resolveName } from '@model-gateway/routing';
import type { TurnDeps } from '../turns/deps.ts';
import { askTasks } from './ask-tasks.ts';
import { askUpstream } from './ask-upstream.ts';

const maxNamed = 128;

/** The same whether it never was there, was forgotten, is another key's, or another model's. */
const noTask = ({ target = '' }: TurnsCall): GatewayError => new GatewayError('not_found', { message: `Task '${target.slice(0, maxNamed)}' not found.` });

/** JSON text for the caller. Throws the error that it gets instead. */
export async function answerTaskCall(call: TurnsCall, deps: TurnDeps): Promise<string> {
  const { bus, keeper, looks } = deps;
  const [kept] = await askTasks(bus, { kind: 'find', owner: call.owner, id: call.target ?? '' });
  if (!kept) throw noTask(call);
  const { facts, reply } = kept;
  if (!call.operator) checkModel(facts, call, deps);
  if (call.action === 'cancel-task') {
    const { text } = await askUpstream(facts, 'cancel', keeper);
    return text;
  }
  // Upstreams forget after a day.
  if (reply !== null) return reply;
  return (await looks.look(facts)).text;
}

function checkModel({ at, request }: TaskFacts, call: TurnsCall, { keeper }: TurnDeps): void {
  const { requestedModel } = request;
  const snapshot = keeper.catalog.current();
  if (!snapshot) throw new GatewayError('not_ready');
  const canonicalOf = (name: string, internal: boolean): string | undefined => {
    try {
      return resolveName(snapshot, name, internal).canonical;
    } catch {
      return undefined;
    }
  };
  // It may have been hidden since.
  const asked = canonicalOf(requestedModel, true);
  if (call.model !== undefined) {
    const named = canonicalOf(call.model, false);
    const isOfModel = named === undefined ? asked === undefined && call.model === requestedModel : named === (asked ?? at.model);
    if (!isOfModel) throw noTask(call);
  }
  const group = snapshot.keyGroups.get(call.keyGroup);
  // The name that was asked for may be gone: what serves it is not.
  if (!(group && isGranted(group, asked ?? request.model ?? at.model)))
    throw new GatewayError('model_not_granted', { message: `This access key may not use the model ${requestedModel}.` });
}
