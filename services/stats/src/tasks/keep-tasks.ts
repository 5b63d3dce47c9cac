/** The store of upstreams' tasks on the bus. Content is sealed before it rests. */
import type { Bus, Disposable } from '@model-gateway/bus';
import { type KeptTask, sealedAs, type TaskFacts, type TasksAnswer, type TasksCall } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';
import type { NewTask, Storage, StoredTask } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';

/** What the store of tasks needs. */
export interface KeepTasksDeps {
  bus: Bus;
  storage: Pick<Storage, 'tasks'>;
  keyring: Keyring;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Upstreams forget theirs after a day; what they said last may be asked for a week. */
const keptMs = 7 * 86_400_000;
/** The caller looks first, as a rule. */
const firstDueMs = 5_000;
const maxLeased = 50;
/** A task that is never seen to end holds nothing of a budget for longer: upstreams have forgotten it by then. */
const heldMs = 24 * 3_600_000;
/** What a task cost is counted when its row arrives, which may be after the news of its end. */
const rowMs = 5_000;

/** More is not a price list's doing. */
const maxCurrencies = 50;

const nothing: TasksAnswer = { tasks: [] };

const reservationOf = ({ createdAt, reserved, request }: TaskFacts): Pick<NewTask, 'reservation'> =>
  reserved
    ? {
        reservation: {
          accessKey: request.accessKey,
          keyGroup: request.keyGroup,
          amounts: Object.fromEntries(Object.entries(reserved).slice(0, maxCurrencies)),
          until: createdAt + heldMs,
        },
      }
    : {};

export function keepTasks({ bus, storage: { tasks }, keyring, logger, now }: KeepTasksDeps): Disposable {
  const seal = (text: string, { owner, id }: Pick<TaskFacts, 'owner' | 'id'>): string => keyring.seal(text, sealedAs.task(owner, id));
  const open = ({ owner, id, status, content, reply }: StoredTask): KeptTask => ({
    facts: JSON.parse(keyring.open(content, sealedAs.task(owner, id))) as TaskFacts,
    status,
    reply: reply === null ? null : keyring.open(reply, sealedAs.task(owner, id)),
  });
  /** One that cannot be read, as after the loss of a master key, keeps no other from being looked at. */
  const openLeased = (task: StoredTask): KeptTask[] => {
    try {
      return [open(task)];
    } catch (error) {
      logger.error({ task: task.id, error }, 'an unfinished task cannot be read: it is not followed');
      return [];
    }
  };
  const answer = async (call: TasksCall): Promise<TasksAnswer> => {
    switch (call.kind) {
      case 'add': {
        const { task } = call;
        const { owner, id, createdAt } = task;
        const times = { createdAt, dueAt: now() + firstDueMs, expiresAt: now() + keptMs };
        const facts = { accessKey: task.request.accessKey, model: task.at.model, request: task.request.id };
        await tasks.add({ owner, id, content: seal(JSON.stringify(task), task), ...times, ...facts, ...reservationOf(task) });
        return nothing;
      }
      case 'find': {
        const found = await tasks.find(call.owner, call.id);
        return { tasks: found ? [open(found)] : [] };
      }
      case 'lease':
        return { tasks: (await tasks.lease(Math.min(call.limit, maxLeased), call.leaseMs)).flatMap(openLeased) };
      case 'release':
        await tasks.setDue(call.owner, call.id, now() + call.afterMs);
        return nothing;
      case 'end':
        await tasks.end({
          ...{ owner: call.owner, id: call.id, status: call.status, reply: seal(call.reply, call) },
          heldUntil: now() + (call.status === 'succeeded' ? rowMs : 0),
        });
        return nothing;
    }
  };
  return bus.serve({ ask: { 'stats.tasks': answer } });
}
