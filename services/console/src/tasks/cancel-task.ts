/** Has a translator ask the upstream to stop a task, with the account that took it. */
import type { TaskFacts } from '@model-gateway/contracts';
import type { ConsoleContext } from '../context.ts';

const deadlineMs = 40_000;

/** Rejects with what the owner would be answered: 410 where the account is gone, 400 where the upstream does not stop it. */
export function cancelTask({ id, owner, request }: TaskFacts, { bus, mintId }: Pick<ConsoleContext, 'bus' | 'mintId'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = bus.open(
      'translator.turns',
      {
        id: mintId('cancel'),
        clientRequestId: null,
        ...{ owner, accessKey: request.accessKey, keyGroup: request.keyGroup, clientProtocol: request.clientProtocol },
        ...{ action: 'cancel-task', target: id, operator: true, query: '', headers: {}, deadlineMs },
      },
      {
        head() {},
        data: (piece) => stream.consumed(piece.byteLength),
        tail() {
          stream.acknowledge();
          resolve();
        },
        broken: reject,
      },
      { deadlineMs },
    );
  });
}
