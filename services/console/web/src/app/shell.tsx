/** The frame around every page: menu, who is signed in, language, colours. Without a session it shows the sign-in page instead. */
import {
  ActionIcon,
  Alert,
  AppShell,
  Box,
  Burger,
  Center,
  Group,
  Loader,
  Menu,
  NavLink,
  Text,
  Title,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLanguage, IconLogout, IconMoon, IconSearch, IconSun, IconUserCircle } from '@tabler/icons-react';
import { Link, Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Page } from '../components/page.tsx';
import { chooseLanguage, type Language, languages } from '../i18n/i18n.ts';
import { useFirstSteps } from '../pages/start/first-steps.ts';
import { dropDraftsOfOthers } from '../session/drafts.ts';
import { SignInPage } from '../session/sign-in-page.tsx';
import { forgetToken } from '../session/token.ts';
import { useMe, useToken } from '../session/use-me.ts';
import { AwayBanner } from './away-banner.tsx';
import { LoginsToRenew } from './logins-to-renew.tsx';
import { adminEntry, isForMembers, isShown, navigation } from './navigation.ts';
import { Palette } from './palette/palette.tsx';

export function Shell() {
  const token = useToken();
  const me = useMe();
  useForgetOthers(token, me.data?.actor);
  if (token === null) return <SignInPage />;
  // Who could not be asked once is asked again behind the pages, which say what is wrong.
  if (me.isPending && me.errorUpdateCount === 0) {
    return (
      <Center h="100%">
        <Loader />
      </Center>
    );
  }
  return <SignedIn />;
}

/** What one person read is not shown to the next, however the session ended. */
function useForgetOthers(token: string | null, actor: string | undefined): void {
  const before = useRef(token);
  useEffect(() => {
    const was = before.current;
    before.current = token;
    if (was !== null && was !== token) void queryClient.resetQueries();
  }, [token]);
  useEffect(() => {
    if (actor !== undefined) dropDraftsOfOthers(actor);
  }, [actor]);
}

function SignedIn() {
  const { t } = useTranslation();
  const [opened, { toggle, close }] = useDisclosure();
  const [asked, setAsked] = useState(0);
  const openPalette = () => setAsked((before) => before + 1);
  useFirstSteps();
  return (
    <AppShell header={{ height: 52 }} navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }} padding="lg">
      <a className="skip-link" href="#content">
        {t('skipToContent')}
      </a>
      <AppShell.Header>
        <Group h="100%" px={{ base: 'xs', xs: 'md' }} justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t('menu')} aria-expanded={opened} />
            <img src="/console/icon.svg" width={26} height={26} alt="" />
            <Title order={1} size="h3" fz={{ base: 'sm', xs: 'h3' }} className="nowrap" style={{ overflow: 'hidden', textOverflow: 'ellipsis' }}>
              {t('product')}
            </Title>
          </Group>
          <HeaderActions onSearch={openPalette} />
        </Group>
      </AppShell.Header>
      <Palette asked={asked} onAsk={openPalette} />
      <AppShell.Navbar aria-label={t('menu')}>
        <Box className="menu" p="xs">
          <Sections onNavigate={close} />
        </Box>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Pages />
      </AppShell.Main>
    </AppShell>
  );
}

/** A member who opens a page for other roles, as after signing in, is redirected to the own keys; a monitor sees a notice in place of pages for administrators. */
function Pages() {
  const { t } = useTranslation();
  const role = useMe().data?.role;
  const isMember = role === 'member';
  const { pathname } = useLocation();
  const matches = useMatches() as readonly { fullPath?: string }[];
  // The address is already the next page's while that one loads: until then the old page is drawn, which may be one for other roles.
  const drawn = matches.at(-1)?.fullPath ?? '/';
  if (isMember && !isForMembers(pathname)) return <Navigate to="/my" replace />;
  if (isMember && !isForMembers(drawn)) return null;
  const forAdmins = role === 'monitor' ? (adminEntry(pathname) ?? adminEntry(drawn)) : undefined;
  if (forAdmins)
    return (
      <Page title={t(`pages.${forAdmins.id}`)}>
        <Alert color="blue">{t('adminsOnly')}</Alert>
      </Page>
    );
  return (
    <>
      <AwayBanner />
      {!isMember && <LoginsToRenew />}
      <Outlet />
    </>
  );
}

function Sections({ onNavigate }: { onNavigate: () => void }) {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const me = useMe().data;
  const isActive = (to: string, tabs: readonly string[] = []) =>
    to === '/' ? pathname === '/' : [to, ...tabs].some((one) => pathname === one || pathname.startsWith(`${one}/`));
  const sections = navigation.map(({ id, entries }) => ({ id, entries: entries.filter((entry) => isShown(entry, me)) }));
  return sections
    .filter(({ entries }) => entries.length > 0)
    .map(({ id, entries }) => (
      <section key={id} aria-label={t(`sections.${id}`)}>
        <Text size="xs" c="dimmed" fw={600} tt="uppercase" px="sm" pt="sm" pb={2}>
          {t(`sections.${id}`)}
        </Text>
        {entries.map(({ id: page, to, icon: Icon, tabs }) => (
          <NavLink
            key={page}
            component={Link}
            to={to}
            label={t(`pages.${page}`)}
            leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
            active={isActive(to, tabs)}
            aria-current={isActive(to, tabs) ? 'page' : undefined}
            onClick={onNavigate}
            py={6}
            style={{ borderRadius: 'var(--mantine-radius-md)' }}
          />
        ))}
      </section>
    ));
}

function HeaderActions({ onSearch }: { onSearch: () => void }) {
  const { t, i18n } = useTranslation();
  const me = useMe().data;
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme() === 'dark';
  const leave = async () => {
    // The token is dropped here even when the gateway cannot be reached.
    await call('logout', { method: 'POST' }).catch(() => undefined);
    forgetToken();
    queryClient.clear();
  };
  return (
    <Group gap={2} wrap="nowrap" style={{ flexShrink: 0 }}>
      <Tooltip label={`${t('palette.label')} (Ctrl+K)`}>
        <ActionIcon size="lg" color="gray" aria-label={t('palette.label')} onClick={onSearch}>
          <IconSearch size={20} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-end">
        <Menu.Target>
          <Tooltip label={t('language')}>
            <ActionIcon size="lg" aria-label={t('language')} color="gray">
              <IconLanguage size={20} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.entries(languages).map(([id, name]) => (
            <Menu.Item key={id} lang={id} onClick={() => chooseLanguage(id as Language)} fw={i18n.language === id ? 700 : 400}>
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Tooltip label={dark ? t('useLight') : t('useDark')}>
        <ActionIcon size="lg" color="gray" aria-label={dark ? t('useLight') : t('useDark')} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
          {dark ? <IconSun size={20} stroke={1.6} /> : <IconMoon size={20} stroke={1.6} />}
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size="lg" color="gray" aria-label={t('account')}>
            <IconUserCircle size={22} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {me?.username ?? t('secretKey')} · {t(`roles.${me?.role ?? 'monitor'}`)}
          </Menu.Label>
          <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={leave}>
            {t('signOut')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
