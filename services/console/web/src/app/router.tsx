/** The pages and their addresses. Each page is a chunk of its own, loaded when it is opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { whenThere } from '../components/lazy-part.tsx';
import { NotFound } from '../components/not-found.tsx';
import { PageFault } from '../components/page-fault.tsx';
import { loadAllTexts } from '../i18n/i18n.ts';
import { parseSearch, stringifySearch } from './address-search.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageFault });

/** Each module exports one component under the given name. Search parameters are kept as they are and read by the pages. */
const pages = [
  ['/', () => import('../pages/overview/overview-page.tsx'), 'OverviewPage'],
  ['/logs', () => import('../pages/logs/logs-page.tsx'), 'LogsPage'],
  ['/statistics', () => import('../pages/statistics/statistics-page.tsx'), 'StatisticsPage'],
  ['/sessions', () => import('../pages/sessions/sessions-page.tsx'), 'SessionsPage'],
  ['/models', () => import('../pages/models/models-page.tsx'), 'ModelsPage'],
  ['/load-balancers', () => import('../pages/load-balancers/load-balancers-page.tsx'), 'LoadBalancersPage'],
  ['/key-groups', () => import('../pages/key-groups/key-groups-page.tsx'), 'KeyGroupsPage'],
  ['/access-keys', () => import('../pages/access-keys/access-keys-page.tsx'), 'AccessKeysPage'],
  ['/my', () => import('../pages/my/my-page.tsx'), 'MyPage'],
  ['/key-use', () => import('../pages/key-use/key-use-page.tsx'), 'KeyUsePage'],
  ['/upstreams', () => import('../pages/upstreams/upstreams-page.tsx'), 'UpstreamsPage'],
  ['/credentials', () => import('../pages/credentials/credentials-page.tsx'), 'CredentialsPage'],
  ['/pricing', () => import('../pages/pricing/pricing-page.tsx'), 'PricingPage'],
  ['/web-search', () => import('../pages/web-search/web-search-page.tsx'), 'WebSearchPage'],
  ['/mcp-servers', () => import('../pages/mcp-servers/mcp-servers-page.tsx'), 'McpServersPage'],
  ['/settings/alerts', () => import('../pages/alerts/alerts-page.tsx'), 'AlertsPage'],
  ['/settings/audit', () => import('../pages/audit/audit-page.tsx'), 'AuditPage'],
  ['/settings/history', () => import('../pages/history/history-page.tsx'), 'HistoryPage'],
  ['/settings/transfer', () => import('../pages/transfer/transfer-page.tsx'), 'TransferPage'],
  ['/clients', () => import('../pages/clients/clients-page.tsx'), 'ClientsPage'],
  ['/playground', () => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'],
  ['/start', () => import('../pages/start/start-page.tsx'), 'StartPage'],
  ['/explain', () => import('../pages/explain/explain-page.tsx'), 'ExplainPage'],
  ['/studio', () => import('../pages/studio/studio-page.tsx'), 'StudioPage'],
  ['/health', () => import('../pages/health/health-page.tsx'), 'HealthPage'],
  ['/model-monitor', () => import('../pages/health/health-page.tsx'), 'HealthPage'],
  ['/settings/appearance', () => import('../pages/appearance/appearance-page.tsx'), 'AppearancePage'],
  ['/settings/account', () => import('../pages/account/account-page.tsx'), 'AccountPage'],
  ['/settings/users', () => import('../pages/users/users-page.tsx'), 'UsersPage'],
  ['/settings/set-aside', () => import('../pages/set-aside/set-aside-page.tsx'), 'SetAsidePage'],
  ['/tasks', () => import('../pages/tasks/tasks-page.tsx'), 'TasksPage'],
  ['/costs', () => import('../pages/costs/costs-page.tsx'), 'CostsPage'],
  ['/rate-limits', () => import('../pages/rate-limits/rate-limits-page.tsx'), 'RateLimitsPage'],
] as const satisfies readonly (readonly [string, Load, string])[];

type Load = () => Promise<Record<string, () => React.ReactNode>>;

const withTexts =
  (load: Load): Load =>
  async () => {
    const [page] = await Promise.all([load(), loadAllTexts()]);
    return page;
  };

const routes = pages.map(([path, load, name]) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: (search: Record<string, unknown>) => search,
    // The router itself would load the application anew while the gateway is away, and leave the browser's own page in its place.
    component: lazyRouteComponent(() => whenThere(path === '/' ? load : withTexts(load)), name),
  }),
);

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: PageFault,
});
