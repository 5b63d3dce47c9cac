/** Stored turns and conversations. Content is sealed text; a deleted turn stays as a row without content, so that its descendants find its ancestors. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const turnTables = ({ text, integer, boolean }: StorageDialect['types']): Migration => ({
  async up(db) {
    const statements = [
      `create table if not exists turns (owner ${text} not null, id ${text} not null, parent ${text}, conversation ${text}, model ${text} not null,
        status ${text} not null, authority ${integer} not null, background ${boolean} not null, holder ${text} not null, request_id ${text} not null,
        stream ${text}, at_model ${text}, at_upstream ${text}, at_account ${text}, created_at ${integer} not null, touched_at ${integer} not null,
        expires_at ${integer} not null, deleted ${boolean} not null, bytes ${integer} not null, response_bytes ${integer} not null, input ${text}, response ${text},
        primary key (owner, id))`,
      `create index if not exists turns_open on turns (touched_at) where status in ('queued', 'in_progress')`,
      'create index if not exists turns_expires_at on turns (expires_at)',
      'create index if not exists turns_conversation on turns (owner, conversation) where conversation is not null',
      `create table if not exists turn_items (owner ${text} not null, item ${text} not null, turn ${text} not null, primary key (owner, item))`,
      'create index if not exists turn_items_turn on turn_items (owner, turn)',
      `create table if not exists turn_bytes (owner ${text} not null primary key, bytes ${integer} not null)`,
      `create table if not exists conversations (owner ${text} not null, id ${text} not null, created_at ${integer} not null, expires_at ${integer} not null,
        metadata ${text} not null, next_position ${integer} not null, primary key (owner, id))`,
      'create index if not exists conversations_expires_at on conversations (expires_at)',
      `create table if not exists conversation_items (owner ${text} not null, conversation ${text} not null, position ${integer} not null, item ${text} not null,
        bytes ${integer} not null, content ${text} not null, primary key (owner, conversation, position))`,
      'create unique index if not exists conversation_items_item on conversation_items (owner, conversation, item)',
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});
