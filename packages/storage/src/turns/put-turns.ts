/** Writes turns that are stored only once they have ended: those of a batch together, so that each costs a row of its own and little more. */
import type { TurnsWritten } from '@model-gateway/contracts';
import { isStorableId } from './ids.ts';
import type { TurnChange } from './stored-turn.ts';
import { type TurnRow, turnRow } from './turn-row.ts';
import type { WriteContext } from './write-context.ts';

export type PutTurn = Extract<TurnChange, { kind: 'put' }>;

/** Rows of one statement: some twenty parameters each. */
const rowsAtOnce = 100;

/** Whether nothing but its own rows has to be looked at. */
export const standsAlone = (change: TurnChange): change is PutTurn => change.kind === 'put' && change.turn.conversation === null;

export interface PutOutcome {
  /** undefined: a turn of that id is there already. */
  written: (TurnsWritten | undefined)[];
  /** Rows of what was added, with the ids of their items. */
  added: readonly PutTurn[];
}

/** Each stands alone. */
export async function putTurns(changes: readonly PutTurn[], context: WriteContext): Promise<PutOutcome> {
  const written: (TurnsWritten | undefined)[] = [];
  const fitting: PutTurn[] = [];
  for (const [at, change] of changes.entries()) {
    const { turn, input, response, maxBytes } = change;
    const bytes = input.bytes + response.bytes;
    if (!isStorableId(turn.id)) written[at] = { stored: false, reason: 'missing' };
    else if (!context.bytes.fits(turn.owner, bytes, maxBytes)) written[at] = { stored: false, reason: 'full' };
    else {
      context.bytes.add(turn.owner, bytes);
      fitting.push(change);
    }
  }
  const added = new Set(await insert(fitting, context));
  for (const [at, change] of changes.entries())
    if (!written[at]) {
      const { turn, input, response } = change;
      if (added.has(change)) written[at] = { stored: true, status: turn.status };
      else context.bytes.add(turn.owner, -(input.bytes + response.bytes));
    }
  return { written: Array.from(changes, (_change, at) => written[at]), added: [...added] };
}

/** Those that were not there. */
async function insert(changes: readonly PutTurn[], { db, dialect, now }: WriteContext): Promise<PutTurn[]> {
  const rows = changes.map(({ turn, ...rest }) => turnRow(turn, { ...rest, now }, dialect));
  if (dialect.runEach && rows[0]) {
    const changed = dialect.runEach(statementFor(rows[0]), rows.map(Object.values));
    return changes.filter((_change, at) => changed[at] === 1);
  }
  const added = new Set<string>();
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const found = await db
      .insertInto('turns')
      .values(rows.slice(from, from + rowsAtOnce))
      .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
      .returning(['owner', 'id'])
      .execute();
    for (const one of found) added.add(keyOf(one));
  }
  // Of two with one id the first is the one that was added.
  return changes.filter(({ turn }) => added.delete(keyOf(turn)));
}

const keyOf = ({ owner, id }: { owner: string; id: string }): string => JSON.stringify([owner, id]);

let statement: string | undefined;
/** Every row has the same columns in the same order. */
function statementFor(row: TurnRow): string {
  const names = Object.keys(row);
  statement ??= `insert into turns (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) on conflict (owner, id) do nothing`;
  return statement;
}
