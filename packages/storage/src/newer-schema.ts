/** A database that a later version of this program has migrated. */

/** One line for an operator; the process does not start. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
}

/** undefined: the error of the migration is another one. */
export function readNewerSchema(error: unknown, address: string): NewerSchemaError | undefined {
  const migration = error instanceof Error ? /previously executed migration (\S+) is missing/.exec(error.message)?.[1] : undefined;
  if (migration === undefined) return undefined;
  return new NewerSchemaError(
    `The database ${address} has been migrated by a newer version of this program (${migration}); start that version, or restore a backup from before it`,
  );
}
