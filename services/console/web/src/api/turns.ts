/** Stored turns: the chain behind a request, what one turn holds, and their deletion. */
import type { TurnChain, TurnContent } from '@model-gateway/console/answers';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, path } from './client.ts';

const chains = ['logs', 'turns'] as const;

export const useTurnChain = (requestId: string, wanted: boolean) =>
  useQuery({
    queryKey: [...chains, requestId],
    queryFn: ({ signal }) => call<TurnChain>(path('logs', requestId, 'turns'), { signal }),
    enabled: wanted,
    retry: false,
  });

/** One turn of an access key. */
export interface OwnedTurn {
  accessKey: string;
  id: string;
}

/** Only when somebody asks for it: each reading is recorded. */
export const useTurnContent = () =>
  useMutation({ mutationFn: ({ accessKey, id }: OwnedTurn) => call<TurnContent>(path('access-keys', accessKey, 'turns', id)) });

export function useDeleteTurn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ accessKey, id }: OwnedTurn) => call<void>(path('access-keys', accessKey, 'turns', id), { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: chains }),
  });
}

export function useDeleteTurns() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (accessKey: string) => call<void>(path('access-keys', accessKey, 'turns'), { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: chains }),
  });
}
