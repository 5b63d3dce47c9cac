/** Where and when a key was used, and what one does when it leaked. */
import type { KeyUse } from '@model-gateway/console/answers';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, path } from '../../api/client.ts';
import { describeFault } from '../../components/describe-fault.ts';

const dayMs = 86_400_000;

/** Days back that one can look. */
export const ranges = ['1', '7', '30', '90'] as const;

export const useKeyUse = (name: string, days: string) =>
  useQuery({
    queryKey: ['key-use', name, days],
    queryFn: ({ signal }) => call<KeyUse>(path('access-keys', name, 'use'), { query: { from: Date.now() - Number(days) * dayMs }, signal }),
  });

/** A change of the key; whatever shows it is read again. */
export function useKeyChange(name: string, change: { action?: string; method: 'POST' | 'PATCH'; body?: unknown }) {
  const client = useQueryClient();
  const { action, method, body } = change;
  return useMutation({
    mutationFn: () => call(action === undefined ? path('access-keys', name) : path('access-keys', name, action), { method, body }),
    onSuccess: () => client.invalidateQueries(),
    onError: describeFault,
  });
}
