/** A file that is no SQLite database, or no longer a whole one: waiting does not mend it, unlike a database that is away. */

/** One line for an operator; the process does not start. */
export class DamagedDatabaseError extends Error {
  override readonly name = 'DamagedDatabaseError';
}

/** CORRUPT and NOTADB, as primary result codes of SQLite. */
const damage: ReadonlySet<number> = new Set([11, 26]);

/** undefined: the error is another one. */
export function readDamage(error: unknown, file: string): DamagedDatabaseError | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  if (!(error instanceof Error) || typeof code !== 'number' || !damage.has(code & 0xff)) return undefined;
  return new DamagedDatabaseError(`The database ${file} is damaged (${error.message}); restore a backup of it, or move it away to begin with an empty one`, {
    cause: error,
  });
}
