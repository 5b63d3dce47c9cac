/** The menu: one table that the side bar and the search of pages read. */
import {
  IconActivity,
  IconAdjustments,
  IconBell,
  IconBolt,
  IconBox,
  IconChartBar,
  IconClockPlay,
  IconCloud,
  IconCode,
  IconCoins,
  IconGauge,
  IconHeartbeat,
  IconHistory,
  IconId,
  IconKey,
  IconLayoutDashboard,
  IconMessages,
  IconPlugConnected,
  IconReportMoney,
  IconRoute,
  IconScale,
  IconSettings,
  IconShieldCheck,
  IconTimeline,
  IconTool,
  IconUserCircle,
  IconUsers,
  IconUsersGroup,
  IconWorldSearch,
  type TablerIcon,
} from '@tabler/icons-react';

export interface NavigationEntry {
  /** Also the translation's key below `common:pages`. */
  id: string;
  to: string;
  icon: TablerIcon;
  /** Other addresses of the same page. */
  tabs?: readonly string[];
  /** Shown to admins alone. */
  admin?: boolean;
  /** Shown to members too, who see nothing else. */
  member?: boolean;
  /** Of a person: the console's secret key is nobody, and is not shown it. */
  personal?: boolean;
}

export const navigation: readonly { id: string; entries: readonly NavigationEntry[] }[] = [
  {
    id: 'observe',
    entries: [
      { id: 'overview', to: '/', icon: IconLayoutDashboard },
      { id: 'my', to: '/my', icon: IconKey, member: true, personal: true },
      { id: 'logs', to: '/logs', icon: IconActivity },
      { id: 'statistics', to: '/statistics', icon: IconChartBar },
      { id: 'sessions', to: '/sessions', icon: IconTimeline },
      { id: 'costs', to: '/costs', icon: IconReportMoney },
      { id: 'health', to: '/health', icon: IconHeartbeat, tabs: ['/model-monitor'] },
      { id: 'rate-limits', to: '/rate-limits', icon: IconGauge },
      { id: 'tasks', to: '/tasks', icon: IconClockPlay },
    ],
  },
  {
    id: 'configure',
    entries: [
      { id: 'upstreams', to: '/upstreams', icon: IconCloud },
      { id: 'credentials', to: '/credentials', icon: IconId },
      { id: 'models', to: '/models', icon: IconBox },
      { id: 'load-balancers', to: '/load-balancers', icon: IconScale },
      { id: 'key-groups', to: '/key-groups', icon: IconUsersGroup },
      { id: 'access-keys', to: '/access-keys', icon: IconKey, tabs: ['/key-use'] },
      { id: 'pricing', to: '/pricing', icon: IconCoins },
      { id: 'mcp-servers', to: '/mcp-servers', icon: IconTool },
      { id: 'web-search', to: '/web-search', icon: IconWorldSearch },
    ],
  },
  {
    id: 'try',
    entries: [
      { id: 'start', to: '/start', icon: IconBolt, admin: true },
      { id: 'playground', to: '/playground', icon: IconMessages },
      { id: 'clients', to: '/clients', icon: IconPlugConnected },
      { id: 'explain', to: '/explain', icon: IconRoute },
      { id: 'studio', to: '/studio', icon: IconCode, admin: true },
    ],
  },
  {
    id: 'settings',
    entries: [
      { id: 'account', to: '/settings/account', icon: IconUserCircle, member: true },
      { id: 'users', to: '/settings/users', icon: IconUsers, admin: true },
      { id: 'alerts', to: '/settings/alerts', icon: IconBell, admin: true },
      { id: 'audit', to: '/settings/audit', icon: IconShieldCheck, admin: true },
      { id: 'history', to: '/settings/history', icon: IconHistory, admin: true },
      { id: 'transfer', to: '/settings/transfer', icon: IconSettings, admin: true },
      { id: 'appearance', to: '/settings/appearance', icon: IconAdjustments, member: true },
    ],
  },
];

/** Who looks on; undefined: not known yet. */
type Viewer = { role: string; username: string | null } | undefined;

/** What somebody is shown: the menu and the search of pages follow it. */
export function isShown({ admin, member, personal }: NavigationEntry, viewer: Viewer): boolean {
  if (personal && viewer?.username == null) return false;
  return viewer?.role === 'member' ? member === true : !admin || viewer?.role === 'admin';
}

/** Pages for admins alone that the menu leaves out: what needs attention leads to them. */
const outsideMenu: readonly Pick<NavigationEntry, 'id' | 'to'>[] = [{ id: 'set-aside', to: '/settings/set-aside' }];

/** The entry of a page for admins alone; undefined: others may be at this address. */
export const adminEntry = (pathname: string): Pick<NavigationEntry, 'id' | 'to'> | undefined =>
  [...navigation.flatMap(({ entries }) => entries.filter(({ admin }) => admin)), ...outsideMenu].find(({ to }) => to === pathname);

/** Whether a member may be at this address; others get the API's refusals. */
export const isForMembers = (pathname: string): boolean => navigation.some(({ entries }) => entries.some(({ to, member }) => member && to === pathname));
