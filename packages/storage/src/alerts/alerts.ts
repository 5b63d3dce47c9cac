/**
 * The repository of alerts. A state that begins and the messages about it are one transaction, so that only one of several consoles that see it writes
 * them. A message is sent by who claimed it: the claim is a lease, and is renewed by nobody.
 */
import { type Kysely, type SqlBool, sql } from 'kysely';
import { deleteOlder } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import { readCursor, writeCursor } from '../requests/cursor.ts';
import type { AlertMessageColumns, Database } from '../schema.ts';

/**
 * `waiting`: to be sent; `sent`; `failed`: given up; `quiet`: held back, since the same was sent a short time ago; `unknown`: who sent it twice ended
 * before it could record what became of it.
 */
export type AlertState = 'waiting' | 'sent' | 'failed' | 'quiet' | 'unknown';

/** One message to one channel; times in ms since the epoch. */
export interface AlertMessage {
  id: string;
  /** Name of the channel. */
  channel: string;
  event: string;
  /** What it is about, such as the name of an upstream. */
  subject: string;
  createdAt: number;
  attempts: number;
  state: AlertState;
  sentAt: number | null;
  lastError: string | null;
  content: AlertContent;
}

/** What is sent. */
export interface AlertContent {
  title: string;
  text: string;
  data: Readonly<Record<string, string | number | null>>;
  /** More people than the channel's own, by mail; `only`: instead of them. */
  recipients?: readonly string[];
  only?: boolean;
}

/** A message that is to be sent. `quietMs`: held back where the same was created so short a time ago. */
export interface NewAlert {
  id: string;
  channel: string;
  event: string;
  subject: string;
  quietKey: string;
  quietMs: number;
  content: AlertContent;
  /** It was sent already, or could not be. */
  settled?: { state: 'sent' | 'failed'; error: string | null };
}

/** What became of sending a message; `retryAt`: it is tried again then. */
export interface AlertOutcome {
  state: AlertState;
  retryAt: number | null;
  error: string | null;
}

export interface Alerts {
  /** Ids of all states that are known. */
  states(): Promise<Set<string>>;
  /** false: it was known; then nothing is done. A message under the state's own quiet key that is held back is due at the end of its quiet time. */
  begin(state: string, messages: readonly NewAlert[]): Promise<boolean>;
  /** false: it was not known any more. What is still held back of it is due no more, and where its beginning was held back, so are these messages. */
  end(state: string, messages: readonly NewAlert[]): Promise<boolean>;
  add(messages: readonly NewAlert[]): Promise<void>;
  /** Messages that are due, claimed for `leaseMs`; of another process's lease that ran out once, too. */
  claim(leaseMs: number, limit: number): Promise<AlertMessage[]>;
  settle(id: string, outcome: AlertOutcome): Promise<void>;
  /** The newest first. Throws `validation_failed` naming `cursor`. */
  list(query: { channel?: string; cursor?: string; limit: number }): Promise<{ items: AlertMessage[]; nextCursor: string | null }>;
  prune(before: number, stopped?: () => boolean): Promise<number>;
}

/** A message whose sender died is sent again once. */
const maxClaims = 2;

const fromRow = (row: AlertMessageColumns): AlertMessage => ({
  id: row.id,
  channel: row.channel,
  event: row.event,
  subject: row.subject,
  createdAt: Number(row.created_at),
  attempts: Number(row.attempts),
  state: row.state as AlertState,
  sentAt: row.sent_at === null ? null : Number(row.sent_at),
  lastError: row.last_error,
  content: JSON.parse(row.content) as AlertContent,
});

export function createAlertStore(db: Kysely<Database>, dialect: StorageDialect, now: () => number): Alerts {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  return {
    states: () => translate(async () => new Set((await db.selectFrom('alert_states').select('id').execute()).map(({ id }) => id))),
    begin: (state, messages) =>
      translate(() =>
        db.transaction().execute(async (transaction) => {
          const { numInsertedOrUpdatedRows } = await transaction
            .insertInto('alert_states')
            .values({ id: state, began_at: now() })
            .onConflict((conflict) => conflict.column('id').doNothing())
            .executeTakeFirst();
          if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return false;
          await insert(transaction, messages, { at: now(), begins: state });
          return true;
        }),
      ),
    end: (state, messages) =>
      translate(() =>
        db.transaction().execute(async (transaction) => {
          const { numDeletedRows } = await transaction.deleteFrom('alert_states').where('id', '=', state).executeTakeFirst();
          if (numDeletedRows === 0n) return false;
          await insert(transaction, messages, { at: now(), ends: state });
          const heldBack = transaction.updateTable('alert_messages').set({ due_at: null }).where('quiet_key', '=', quietKeyOf(state));
          await heldBack.where('state', '=', 'quiet').execute();
          return true;
        }),
      ),
    add: (messages) => translate(() => db.transaction().execute((transaction) => insert(transaction, messages, { at: now() }))),
    claim: (leaseMs, limit) => translate(() => claim(db, { leaseMs, limit, at: now() })),
    settle: (id, { state, retryAt, error }) =>
      translate(async () => {
        const set = {
          state,
          due_at: retryAt,
          claims: 0,
          last_error: error === null ? null : cleanText(error, 500),
          ...(state === 'sent' && { sent_at: now() }),
        };
        await db.updateTable('alert_messages').set(set).where('id', '=', id).execute();
      }),
    async list({ channel, cursor, limit }) {
      const position = cursor === undefined ? null : readCursor(cursor);
      let query = db.selectFrom('alert_messages').selectAll();
      if (channel !== undefined) query = query.where('channel', '=', channel);
      if (position) query = query.where(sql<SqlBool>`(created_at, id) < (${position.startedAt}, ${position.id})`);
      // One more than requested shows whether there is a next page.
      const rows = await translate(() =>
        query
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1)
          .execute(),
      );
      const items = rows.slice(0, limit).map(fromRow);
      const last = items.at(-1);
      return { items, nextCursor: rows.length > limit && last ? writeCursor({ startedAt: last.createdAt, id: last.id }) : null };
    },
    prune: (before, stopped = () => false) => translate(() => deleteOlder(db, { table: 'alert_messages', time: 'created_at', before }, stopped)),
  };
}

const quietKeyOf = (text: string): string => cleanText(text, 600);

/** `begins`, `ends`: the state that the messages are about. */
interface Occasion {
  at: number;
  begins?: string;
  ends?: string;
}

async function insert(db: Kysely<Database>, messages: readonly NewAlert[], occasion: Occasion): Promise<void> {
  const { at, begins } = occasion;
  for (const message of messages) {
    const { id, channel, event, subject, quietKey, content, settled } = message;
    const held = await findHeld(db, message, occasion);
    const heldUntil = begins === quietKey ? (held?.until ?? null) : null;
    await db
      .insertInto('alert_messages')
      .values({
        id,
        channel,
        event,
        subject: cleanText(subject, 300),
        quiet_key: quietKeyOf(quietKey),
        created_at: at,
        due_at: settled ? null : held ? heldUntil : at,
        attempts: settled ? 1 : 0,
        claims: 0,
        state: settled?.state ?? (held ? 'quiet' : 'waiting'),
        sent_at: settled?.state === 'sent' ? at : null,
        last_error: settled?.error ?? null,
        content: cleanText(JSON.stringify(content), 16_384),
      })
      .execute();
  }
}

/** null: the message is not held back. `until`: the end of the quiet time that the last one began. */
async function findHeld(db: Kysely<Database>, { channel, quietKey, quietMs }: NewAlert, { at, ends }: Occasion): Promise<{ until: number | null } | null> {
  const ofChannel = db.selectFrom('alert_messages').select(['state', 'created_at', 'sent_at']).where('channel', '=', channel).limit(1);
  if (ends !== undefined) {
    const begun = await ofChannel.where('quiet_key', '=', quietKeyOf(ends)).orderBy('created_at', 'desc').orderBy('id', 'desc').executeTakeFirst();
    // The end of it is sent where its beginning was sent.
    if (begun) return begun.state === 'quiet' ? { until: null } : null;
  }
  const same = await ofChannel
    .where('quiet_key', '=', quietKeyOf(quietKey))
    .where(sql<SqlBool>`coalesce(sent_at, created_at) > ${at - quietMs}`)
    .where('state', '<>', 'quiet')
    .orderBy('created_at', 'desc')
    .executeTakeFirst();
  return same ? { until: Number(same.sent_at ?? same.created_at) + quietMs } : null;
}

/** Each by an update that only one process can make. */
async function claim(db: Kysely<Database>, { leaseMs, limit, at }: { leaseMs: number; limit: number; at: number }): Promise<AlertMessage[]> {
  const due = await db.selectFrom('alert_messages').selectAll().where('due_at', '<=', at).orderBy('due_at').limit(limit).execute();
  const claimed: AlertMessage[] = [];
  for (const row of due) {
    const claims = Number(row.claims);
    const isLost = claims >= maxClaims;
    const next = isLost
      ? { state: 'unknown', due_at: null }
      : { state: 'waiting', due_at: at + leaseMs, claims: claims + 1, attempts: Number(row.attempts) + 1 };
    const { numUpdatedRows } = await db
      .updateTable('alert_messages')
      .set(next)
      .where('id', '=', row.id)
      .where('due_at', '=', row.due_at)
      .where('claims', '=', row.claims)
      .executeTakeFirst();
    if (numUpdatedRows > 0n && !isLost) claimed.push(fromRow({ ...row, attempts: Number(row.attempts) + 1 }));
  }
  return claimed;
}
