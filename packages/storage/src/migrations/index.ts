/** Every change of the schema, in order. A file that was released is never edited again. */
import type { Migration, MigrationProvider } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';
import { catalogTables } from './0001-catalog.ts';
import { requestTable } from './0002-request-stats.ts';
import { loadBalancerTables } from './0003-load-balancers.ts';
import { spendTables } from './0004-limits.ts';
import { consoleUserTables } from './0005-console-users.ts';
import { auditTable } from './0006-audit.ts';
import { pricingTable } from './0006-pricing.ts';
import { historyTables } from './0007-history.ts';
import { statTables } from './0008-stats.ts';
import { countedRows } from './0009-counted-rows.ts';
import { rewritingTables } from './0010-row-pipeline.ts';
import { requestBodiesTable } from './0011-request-bodies.ts';
import { latencyColumns } from './0012-latencies.ts';
import { deadLetterTable } from './0013-dead-letters.ts';
import { rowEnding } from './0014-row-ending.ts';
import { rowKindColumns } from './0015-row-kinds.ts';
import { attemptTables } from './0016-attempts.ts';
import { turnTables } from './0017-turns.ts';
import { rowTurn } from './0018-row-turn.ts';
import { rowUnits } from './0019-row-units.ts';
import { taskTable } from './0020-tasks.ts';
import { rowPath } from './0021-row-path.ts';
import { mcpTables } from './0022-mcp-servers.ts';
import { taskReservations } from './0023-task-reservations.ts';
import { searchTables } from './0024-search.ts';
import { taskFacts } from './0025-task-facts.ts';
import { mcpToolTable } from './0026-mcp-tools.ts';
import { ssoTables } from './0027-sso-credentials.ts';
import { keyOwners } from './0037-key-owners.ts';
import { keyAddresses } from './0038-key-addresses.ts';
import { alertTables } from './0039-alerts.ts';
import { memberColumns } from './0040-members.ts';
import { budgetColumns } from './0043-budget-columns.ts';
import { spendMonths } from './0044-spend-months.ts';
import { imageTokenColumns } from './0046-image-tokens.ts';
import { serviceTierColumn } from './0047-service-tier.ts';

const migrations: Record<string, (types: StorageDialect['types'], dialect: StorageDialect) => Migration> = {
  '0001-catalog': catalogTables,
  '0002-request-stats': requestTable,
  '0003-load-balancers': loadBalancerTables,
  '0004-limits': spendTables,
  '0005-console-users': consoleUserTables,
  '0006-audit': auditTable,
  '0006-pricing': pricingTable,
  '0007-history': historyTables,
  '0008-stats': (_types, dialect) => statTables(dialect),
  '0009-counted-rows': (_types, dialect) => countedRows(dialect),
  '0010-row-pipeline': rewritingTables,
  '0011-request-bodies': requestBodiesTable,
  '0012-latencies': (_types, dialect) => latencyColumns(dialect),
  '0013-dead-letters': deadLetterTable,
  '0014-row-ending': rowEnding,
  '0015-row-kinds': rowKindColumns,
  '0016-attempts': (_types, dialect) => attemptTables(dialect),
  '0017-turns': turnTables,
  '0018-row-turn': rowTurn,
  '0019-row-units': rowUnits,
  '0020-tasks': taskTable,
  '0021-row-path': rowPath,
  '0022-mcp-servers': mcpTables,
  '0023-task-reservations': taskReservations,
  '0024-search': searchTables,
  '0025-task-facts': taskFacts,
  '0026-mcp-tools': mcpToolTable,
  '0027-sso-credentials': ssoTables,
  '0037-key-owners': keyOwners,
  '0038-key-addresses': keyAddresses,
  '0039-alerts': alertTables,
  '0040-members': memberColumns,
  '0043-budget-columns': (_types, dialect) => budgetColumns(dialect),
  '0044-spend-months': (_types, dialect) => spendMonths(dialect),
  '0046-image-tokens': imageTokenColumns,
  '0047-service-tier': serviceTierColumn,
};

export const createMigrationProvider = (dialect: StorageDialect): MigrationProvider => ({
  getMigrations: async () => Object.fromEntries(Object.entries(migrations).map(([name, create]) => [name, create(dialect.types, dialect)])),
});
