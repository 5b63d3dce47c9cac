/** What the audit log can be filtered by. */
export { auditActions as actions, auditEntityTypes as entityTypes } from '@model-gateway/contracts/audit';

const hour = 3_600_000;
/** Name → how far back, in ms. */
export const windows: Readonly<Record<string, number>> = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour, year: 365 * 24 * hour };
