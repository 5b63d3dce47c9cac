/** Which credentials need a login, asked beside every page; what says so is loaded when there is one. */
import type { SsoCredential } from '@model-gateway/console/answers';
import { Suspense } from 'react';
import { type Page, useList } from '../api/resources.ts';
import { lazyPart } from '../components/lazy-part.tsx';

const refreshMs = 30_000;
const pageSize = 100;

const LoginBanner = lazyPart(() => import('./login-banner.tsx').then((part) => ({ default: part.LoginBanner })));

export function LoginsToRenew() {
  const { data } = useList<SsoCredential>('sso-credentials', { page_size: pageSize, sort: 'name' }, { refetchInterval: refreshMs });
  const names = namesOf(data);
  if (names.length === 0) return null;
  return (
    <Suspense>
      <LoginBanner names={names} />
    </Suspense>
  );
}

const namesOf = (page: Page<SsoCredential> | undefined): string[] =>
  (page?.items ?? []).filter(({ enabled, state }) => enabled && state === 'needs_login').map(({ name }) => name);
