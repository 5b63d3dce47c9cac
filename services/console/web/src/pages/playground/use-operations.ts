/** What the chosen model can be asked for: the gateway says, by the protocol of its upstream. */
import type { ModelOperations } from '@model-gateway/console/answers';
import { playgroundCalls } from '@model-gateway/protocols/playground';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';

export type PlaygroundOperation = ModelOperations['items'][number]['operation'];

export const conversation: PlaygroundOperation = 'generate';
/** A session over a WebSocket. */
export const session: PlaygroundOperation = 'realtime';
const all: readonly PlaygroundOperation[] = [conversation, ...playgroundCalls.map(({ operation }) => operation), session];

/** Those that the playground can show, the usual one first; all of them while nothing is known of the name. */
export function useOperations(model: string, isKnown: boolean): readonly PlaygroundOperation[] {
  const { data } = useQuery({
    queryKey: ['route-operations', model],
    queryFn: ({ signal }) => call<ModelOperations>('route/operations', { query: { model }, signal }),
    enabled: isKnown,
  });
  const served = new Set(data?.items.map(({ operation }) => operation));
  const shown = all.filter((operation) => served.has(operation));
  return shown.length > 0 ? shown : all;
}
