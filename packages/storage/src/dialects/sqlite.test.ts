import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type ControlledTransaction, Kysely, sql } from 'kysely';
import { createSqliteDialect } from './sqlite.ts';

let folder: string;
let db: Kysely<unknown>;
let dialect: ReturnType<typeof createSqliteDialect>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-'));
  dialect = createSqliteDialect(join(folder, 'full.db'));
  db = new Kysely({ dialect: dialect.kysely });
  await sql`create table things (name text not null)`.execute(db);
  // To SQLite it is a disk that has no more room.
  await sql`pragma max_page_count = 10`.execute(db);
});
afterEach(async () => {
  await db.destroy();
  rmSync(folder, { recursive: true });
});
const tooMuch = sql`insert into things values (${'x'.repeat(1_000_000)})`;
const faultOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => null, dialect.translateError);

test('a full disk is an unavailable database with SQLite’s own message, and the transaction is undone', async () => {
  const fault = await faultOf(
    db.transaction().execute(async (transaction) => {
      await sql`insert into things values ('before')`.execute(transaction);
      await tooMuch.execute(transaction);
    }),
  );
  expect(fault).toMatchObject({ code: 'service_unavailable', cause: { message: expect.stringContaining('full') } });
  expect((await sql`select name from things`.execute(db)).rows).toEqual([]);
  await sql`insert into things values ('after')`.execute(db);
});

test('what is asked of a transaction that a full disk has ended is unavailable too', async () => {
  const transaction: ControlledTransaction<unknown> = await db.startTransaction().execute();
  await sql`savepoint mark`.execute(transaction);
  await faultOf(tooMuch.execute(transaction));
  expect(await faultOf(sql`rollback to savepoint mark`.execute(transaction))).toMatchObject({ code: 'service_unavailable' });
  expect(await faultOf(transaction.commit().execute())).toMatchObject({ code: 'service_unavailable' });
  await transaction.rollback().execute();
});

test('the file and those beside it are their owner’s alone, also when an earlier version made them readable', async () => {
  const modes = () => Object.fromEntries(readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]));
  const all = { 'full.db': '600', 'full.db-wal': '600', 'full.db-shm': '600' };
  expect(modes()).toEqual(all);
  for (const name of Object.keys(all)) chmodSync(join(folder, name), 0o644);
  const again = new Kysely({ dialect: createSqliteDialect(join(folder, 'full.db')).kysely });
  await sql`select 1`.execute(again);
  expect(modes()).toEqual(all);
  await again.destroy();
});

// SQLite before 3.51, as most systems have its program, goes by this lock alone: without it, a backup that ends takes itself for the last connection.
(process.platform === 'linux' ? test : test.skip)('a second connection of this process leaves the lock of the first on the file', async () => {
  const file = join(folder, 'full.db');
  const locks = () => readFileSync('/proc/locks', 'utf8').match(new RegExp(`READ +${process.pid} \\S+:${statSync(file).ino} `, 'g')) ?? [];
  expect(locks()).toHaveLength(1);
  const second = new Kysely({ dialect: createSqliteDialect(file).kysely });
  await sql`select name from things`.execute(second);
  expect(locks()).toHaveLength(1);
  await second.destroy();
});

test('a file that was moved away or replaced takes no changes, which would be lost with the process, until it is back', async () => {
  const file = join(folder, 'full.db');
  const insert = (name: string) => db.transaction().execute((transaction) => sql`insert into things values (${name})`.execute(transaction));
  const gone = { code: 'service_unavailable', cause: { message: expect.stringContaining('deleted or replaced while it was open') } };
  await insert('before');
  renameSync(file, `${file}.away`);
  expect(await faultOf(insert('lost'))).toMatchObject(gone);
  expect(await faultOf(sql`insert into things values ('lost')`.execute(db))).toMatchObject(gone);
  expect(await faultOf(sql`delete from things returning name`.execute(db))).toMatchObject(gone);
  writeFileSync(file, 'another');
  expect(await faultOf(insert('lost'))).toMatchObject(gone);
  expect(() => dialect.verify?.()).toThrow('unavailable');
  renameSync(`${file}.away`, file);
  await insert('after');
  expect((await sql`select name from things`.execute(db)).rows).toEqual([{ name: 'before' }, { name: 'after' }]);
});
