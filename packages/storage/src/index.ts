/** The database of the gateway: one schema and the same repositories on SQLite and PostgreSQL. */
export type { AlertContent, AlertMessage, AlertOutcome, AlertState, Alerts, NewAlert } from './alerts/alerts.ts';
export type { AuditFilters, AuditLogs, AuditPage, AuditQuery } from './audit/audit-logs.ts';
export type { BodyQuery, StoredBodies } from './bodies/stored-bodies.ts';
export type { BalancerLinks, PinPage } from './catalog/balancer-links.ts';
export type { BudgetHolder } from './catalog/budget-owners.ts';
export { toDelta } from './catalog/catalog-rows.ts';
export type { CatalogChange, CatalogReader, CatalogStore, CatalogWriter, ChangeOptions, ChangeResult, MadeChange } from './catalog/catalog-store.ts';
export type {
  AccessKeyDocument,
  AlertChannelDocument,
  KeyGroupDocument,
  LoadBalancerDocument,
  McpServerDocument,
  ModelDocument,
  PricingDocument,
  SearchConfigDocument,
  SearchProviderDocument,
  StoredResource,
  UpstreamDocument,
} from './catalog/documents.ts';
export type { ModelNames, NameOwner, TakenName } from './catalog/model-names.ts';
export type { ListPage, ListQuery, ResourceRepository } from './catalog/resource-repository.ts';
export { type CatalogSection, catalogSections, type RowChange, type RowImage } from './catalog/row-change.ts';
export type { SwitchLinks, SwitchOwner } from './catalog/switch-links.ts';
export type { ConsoleStore } from './console/console-store.ts';
export type { ConsoleRole, ConsoleUser } from './console/console-user.ts';
export { consoleRoles } from './console/console-user.ts';
export type { ConsoleSession, NewConsoleSession, Sessions, SignInCode } from './console/sessions.ts';
export type { ConsoleUserChange, NewConsoleUser, UserReader, UserWriter } from './console/users.ts';
export type { DeadLetterQuery, DeadLetters } from './dead-letters/dead-letters.ts';
export { readForeignTables, type WantedTables } from './foreign-tables.ts';
export type { CatalogHistory, Commit, CommitAuthor, CommitPage } from './history/history.ts';
export type { KeyAddress, KeyAddresses } from './key-use/key-addresses.ts';
export type { KeyUse, KeyUsePart, KeyUseQuery } from './key-use/read-key-use.ts';
export { type OpenOptions, openStorage, type Storage, type StorageLogger, type StorageTarget } from './open-storage.ts';
export { type RequestFilters, type RequestPage, type RequestQuery, searchedColumns } from './requests/list-rows.ts';
export type { RequestStats } from './requests/request-stats.ts';
export type { NewSsoCredential, SsoCredential, SsoCredentialPatch, SsoCredentialRepository, SsoLogin } from './sso/sso-credentials.ts';
export { harmlessOutcomes } from './stats/attempts.ts';
export { type AttemptDimension, attemptDimensions, type Dimension, dimensions, type Grouping, groupings } from './stats/dimension-names.ts';
export { type Grain, grainMs, startOf } from './stats/dimensions.ts';
export type { Keep } from './stats/prune.ts';
export type { AttemptGroup, AttemptQuery } from './stats/read-attempts.ts';
export type { SessionQuery, SessionSums } from './stats/read-sessions.ts';
export type { Latencies, StatsFilters, StatsGroup, StatsOrder, StatsQuery } from './stats/read-stats.ts';
export { medianOf, type RecentAnswer, type RecentAttempts, type RecentQuery, type SeenAttempts } from './stats/recent-attempts.ts';
export { type GuardOptions, guardStorage, type StorageGuard } from './storage-guard.ts';
export type { ListedTask, StoredTask, TaskQuery } from './tasks/list-tasks.ts';
export type { NewTask, TasksRepository } from './tasks/tasks.ts';
export type { ChainLink } from './turns/read-turns.ts';
export type { Content, ItemPage, StoredConversation, StoredItem, StoredTurn, TurnChange } from './turns/stored-turn.ts';
export type { TurnsRepository } from './turns/turns.ts';
