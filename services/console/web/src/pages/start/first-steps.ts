/** Sends an administrator of an empty gateway to the first steps, once a session. */
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useList } from '../../api/resources.ts';
import { useIsAdmin } from '../../session/use-me.ts';

/** Where the browser remembers that they were seen. */
const storageKey = 'model-gateway.first-steps';

export const dismissFirstSteps = (): void => sessionStorage.setItem(storageKey, 'seen');

export function useFirstSteps(): void {
  const isAdmin = useIsAdmin();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const wanted = isAdmin && pathname === '/' && sessionStorage.getItem(storageKey) === null;
  const total = useList('upstreams', { page: 1, page_size: 1 }, { enabled: wanted }).data?.total;
  useEffect(() => {
    if (wanted && total === 0) void navigate({ to: '/start' });
  }, [wanted, total, navigate]);
}
