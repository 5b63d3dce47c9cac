/** What a commit changed, as the API returns it. */

export interface FieldChange {
  before: unknown;
  after: unknown;
  secret_changed?: true;
}

export interface RowChange {
  section: string;
  name: string;
  change: 'created' | 'updated' | 'deleted';
  fields: Record<string, FieldChange>;
}

export interface Changes {
  total_changes: number;
  changes: RowChange[];
}
