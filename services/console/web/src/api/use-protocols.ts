/** What upstreams may speak, from the API's own description, so that no list of protocols is kept here. */
import { useQuery } from '@tanstack/react-query';
import { call } from './client.ts';

/** The part of an OpenAPI document that is read here; what a request's body looks like stands under a name of its own. */
interface Description {
  components: { schemas: Record<string, { properties?: { protocol?: { enum?: string[] } } }> };
  paths: Record<string, { post?: { requestBody?: { content: Record<string, { schema: { $ref: string } }> } } }>;
}

const schemaPrefix = '#/components/schemas/';

export function useProtocols(): string[] {
  const { data } = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => call<Description>('openapi.json', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const body = data?.paths['/console/api/upstreams']?.post?.requestBody?.content['application/json']?.schema;
  const schema = data?.components.schemas[body?.$ref.slice(schemaPrefix.length) ?? ''];
  return schema?.properties?.protocol?.enum ?? [];
}
