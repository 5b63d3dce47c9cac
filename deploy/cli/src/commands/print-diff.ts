/** What an import did, or would do, for people: one line a row, one a field. */

interface FieldChange {
  before: unknown;
  after: unknown;
  secret_changed?: true;
}

/** The console's answer to an import or its dry run. */
export interface ImportAnswer {
  dry_run: boolean;
  revision: number | null;
  total_changes: number;
  changes: { section: string; name: string; change: 'created' | 'updated' | 'deleted'; fields: Record<string, FieldChange> }[];
}

const signs = { created: '+', updated: '~', deleted: '-' } as const;
const maxValueLength = 200;

export function printDiff({ dry_run, revision, total_changes, changes }: ImportAnswer): string {
  const lines = changes.flatMap(({ section, name, change, fields }) => [
    `${signs[change]} ${section} ${name}`,
    ...(change === 'updated' ? Object.entries(fields).map(([field, one]) => `    ${field}: ${show(one.before)} → ${show(one.after)}${hint(one)}`) : []),
  ]);
  if (changes.length < total_changes) lines.push(`… and ${total_changes - changes.length} more`);
  const rows = `${total_changes} ${total_changes === 1 ? 'row' : 'rows'}`;
  lines.push(total_changes === 0 ? 'Nothing to change.' : dry_run ? `${rows} would change.` : `${rows} changed, revision ${revision}.`);
  return `${lines.join('\n')}\n`;
}

const hint = ({ secret_changed }: FieldChange): string => (secret_changed ? ' (its secret changed)' : '');

/** Terminals obey control characters: JSON escapes them. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}
