/** What a commit changed, as the API returns it. */

export interface FieldChange {
  before: unknown;
  after: unknown;
  secret_changed?: true;
}

/** One changed row, field by field. */
export interface RowChange {
  section: string;
  name: string;
  change: 'created' | 'updated' | 'deleted';
  fields: Record<string, FieldChange>;
}

/** The changes of a commit; the list may be cut, the total is not. */
export interface Changes {
  total_changes: number;
  changes: RowChange[];
}
