/** Who is signed in, and what that person may do. */
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { call } from '../api/client.ts';
import { onTokenChange, readToken } from './token.ts';

/** The signed-in user. */
export interface Me {
  actor: string;
  username: string | null;
  role: 'admin' | 'monitor';
  /** Absent for the secret key. */
  session?: { id: string; expires_at: string; ends_at: string };
}

const againMs = 3_000;

export const useToken = (): string | null => useSyncExternalStore(onTokenChange, readToken);

export function useMe() {
  const token = useToken();
  return useQuery({
    queryKey: ['me', token],
    queryFn: ({ signal }) => call<Me>('me', { signal }),
    enabled: token !== null,
    staleTime: 60_000,
    // Until it is known who looks on, an administrator's pages are a monitor's.
    refetchInterval: ({ state }) => (state.status === 'error' ? againMs : false),
  });
}

/** Whether the person may change anything; false until it is known. */
export const useIsAdmin = (): boolean => useMe().data?.role === 'admin';
