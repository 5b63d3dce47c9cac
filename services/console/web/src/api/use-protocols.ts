/** What upstreams may speak, from the API's own description, so that no list of protocols is kept here. */
import { useQuery } from '@tanstack/react-query';
import { call } from './client.ts';

interface Description {
  components?: { schemas?: Record<string, { properties?: { protocol?: { enum?: string[] } } }> };
  paths: Record<string, { post?: { requestBody?: { content: Record<string, { schema: { properties?: { protocol?: { enum?: string[] } } } }> } } }>;
}

export function useProtocols(): string[] {
  const { data } = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => call<Description>('openapi.json', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const schema = data?.paths['/console/api/upstreams']?.post?.requestBody?.content['application/json']?.schema;
  return schema?.properties?.protocol?.enum ?? [];
}
