/** What the audit log can be filtered by. */
import { auditActions } from '@model-gateway/contracts/audit';

export { auditActions as actions, auditEntityTypes as entityTypes } from '@model-gateway/contracts/audit';

/** What the page shows: changes and sign-ins of people, what callers did, or everything. */
export const views = ['changes', 'callers', 'all'] as const;

const ofCallers: readonly string[] = ['acl.violation', 'tool.call', 'mcp.context.refreshed'];
/** View → its actions, as the API takes them; absent: any. */
export const actionsOf: Readonly<Record<(typeof views)[number], string | undefined>> = {
  changes: auditActions.filter((action) => !ofCallers.includes(action)).join(','),
  callers: ofCallers.join(','),
  all: undefined,
};

const hour = 3_600_000;
/** Name → how far back, in ms. */
export const windows: Readonly<Record<string, number>> = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour, year: 365 * 24 * hour };
