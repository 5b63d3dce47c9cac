/** Who is signed in, and what that person may do. */
import type { OwnAccount } from '@model-gateway/console/answers';
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { call } from '../api/client.ts';
import { onTokenChange, readToken } from './token.ts';

const againMs = 3_000;

export const useToken = (): string | null => useSyncExternalStore(onTokenChange, readToken);

export function useMe() {
  const token = useToken();
  return useQuery({
    queryKey: ['me', token],
    queryFn: ({ signal }) => call<OwnAccount>('me', { signal }),
    enabled: token !== null,
    staleTime: 60_000,
    // Until it is known who looks on, an administrator's pages are a monitor's.
    refetchInterval: ({ state }) => (state.status === 'error' ? againMs : false),
  });
}

/** Whether the person may change anything; false until it is known. */
export const useIsAdmin = (): boolean => useMe().data?.role === 'admin';
