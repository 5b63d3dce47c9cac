/** Questions to the store of tasks, which the stats service keeps. */
import type { Bus } from '@model-gateway/bus';
import type { KeptTask, TasksCall } from '@model-gateway/contracts';
import { toGatewayError } from '@model-gateway/contracts/errors';
import { storeAway } from '../turns/ask-store.ts';

const deadlineMs = 10_000;

/** Rejects with `storage_unavailable` where the store is away. */
export async function askTasks(bus: Bus, call: TasksCall): Promise<KeptTask[]> {
  try {
    return (await bus.ask('stats.tasks', call, { deadlineMs })).tasks;
  } catch (cause) {
    const error = toGatewayError(cause);
    throw error.status < 500 ? error : storeAway(cause);
  }
}
