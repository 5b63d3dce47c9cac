/** One entry of LiteLLM's `search_tools`. */
import type { SearchKind } from '@model-gateway/contracts';
import { asSecret, isAddress } from './addresses.ts';
import type { Place } from './findings.ts';

/** Services that both gateways know. */
interface Service {
  kind: SearchKind;
  /** LiteLLM adds it to an address that does not end in it. */
  path: string;
  /** Where LiteLLM finds what its file does not say. */
  keyVariable?: string;
  addressVariable?: string;
}

const services: Readonly<Record<string, Service>> = {
  tavily: { kind: 'tavily', path: '/search', keyVariable: 'TAVILY_API_KEY' },
  brave: { kind: 'brave', path: '', keyVariable: 'BRAVE_API_KEY' },
  searxng: { kind: 'searxng', path: '/search', addressVariable: 'SEARXNG_API_BASE' },
};

/** A search provider; nothing where this gateway does not know the service. */
export function readSearchTool(place: Place, nameOf: (wanted: string) => string): Record<string, unknown>[] {
  const params = place.at('litellm_params');
  const name = place.at('search_tool_name').value;
  const { value: named } = params.at('search_provider');
  const service = typeof named === 'string' && Object.hasOwn(services, named) ? services[named] : undefined;
  if (typeof name !== 'string' || !service) {
    place.report('manual', 'This gateway does not know the service: make a search provider of kind http for something that answers for it.');
    return [];
  }
  const address = params.at('api_base').value;
  const base = typeof address === 'string' ? addressOf(asSecret(address), service) : service.addressVariable ? `\${${service.addressVariable}}` : null;
  if (base !== null && !(isAddress(base) || base.startsWith('${'))) {
    place.report('manual', 'The search tool is given no address that this gateway can use: make its search provider by hand.');
    return [];
  }
  place.at('search_tool_name').report('approximate', 'A search provider: name it in the search configuration, and switch on server_tools in key groups.');
  params.at('search_provider').report('exact', 'The kind of the search provider.');
  params.at('api_base').report('exact', 'The search provider’s address.');
  params.at('timeout').report('manual', 'Set timeout_ms in the search configuration.');
  params.at('max_retries').report('approximate', 'A search that fails is told to the model, which may ask again.');
  const given = params.at('api_key').text('exact', 'The search provider’s key.');
  const description = place.at('search_tool_info').at('description').text('exact', 'The search provider’s description.');
  const key = given !== undefined ? asSecret(given) : service.keyVariable ? `\${${service.keyVariable}}` : null;
  return [
    {
      name: nameOf(name),
      kind: service.kind,
      ...(base !== null && { base_url: base }),
      ...(key !== null && { api_key: key }),
      ...(description !== undefined && { description: description.slice(0, 2000) }),
    },
  ];
}

/** A reference is left as it is: what it stands for is not known here. */
function addressOf(text: string, { path }: Service): string {
  const address = text.trim().replace(/\/+$/, '');
  return address.startsWith('${') || address.endsWith(path) ? address : `${address}${path}`;
}
