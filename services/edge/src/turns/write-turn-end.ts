/** Writes the end of a stored turn in place of a translator that died, as its caller saw it. */
import type { TurnStatus } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { EdgeContext } from '../context.ts';

const writeMs = 10_000;

/** The turn, its status, and the reply as it was ended. */
export interface TurnEnd {
  owner: string;
  id: string;
  status: TurnStatus;
  response: unknown;
}

/** Nobody waits for it: while the store is away, the store itself ends the turn later. */
export function writeTurnEnd({ bus, reporting }: Pick<EdgeContext, 'bus' | 'reporting'>, { owner, id, status, response }: TurnEnd): void {
  bus.open(
    'turns.write',
    { kind: 'finish', owner, id, status, authority: 1 },
    {
      head: () => undefined,
      data: () => undefined,
      tail: () => undefined,
      broken: (error: GatewayError) => reporting.logger.warn({ turn: id, error }, 'the end of a turn could not be written'),
    },
    { body: Buffer.from(JSON.stringify(response), 'utf8'), deadlineMs: writeMs },
  );
}
