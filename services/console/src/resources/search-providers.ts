/** Where the gateway searches the web for models; the key is stored sealed and shown as a mask. */
import {
  type SearchProviderInput,
  sealedAs,
  searchAddresses,
  searchProviderReplySchema,
  searchProviderSchema,
  showSearchProvider,
} from '@model-gateway/contracts';
import type { SearchProviderDocument } from '@model-gateway/storage';
import { invalid, Problem } from '../problem.ts';
import { checkBaseUrl } from '../validation/base-url.ts';
import { joinPath } from '../validation/read-input.ts';
import type { BuildContext, Resource } from './resource.ts';
import { opens, renewSeal } from './stored-secret.ts';
import { isMasked, upstreamKeyMask } from './upstream-keys.ts';

const show = ({ sealed_key, ...document }: SearchProviderDocument) => ({
  ...showSearchProvider(document),
  api_key: sealed_key === null ? null : upstreamKeyMask,
});

export const searchProviders: Resource<SearchProviderDocument, SearchProviderInput> = {
  path: 'search-providers',
  noun: 'search provider',
  entityType: 'search_provider',
  sortable: ['name', 'created_at', 'updated_at'],
  schema: searchProviderSchema,
  partial: searchProviderSchema.partial(),
  answer: searchProviderReplySchema,
  reader: (reader) => reader.searchProviders,
  writer: (writer) => writer.searchProviders,
  toInput: show,
  keptSecrets: ({ sealed_key }) => (sealed_key === null ? {} : { api_key: upstreamKeyMask }),
  toReply: show,
  secrets: ({ sealed_key }) => ({ api_key: sealed_key }),
  check: ({ kind, base_url }, { outbound }) =>
    base_url === null && searchAddresses[kind] === null
      ? [{ field: 'base_url', message: `is needed for a provider of the kind ${kind}` }]
      : checkBaseUrl('base_url', base_url, outbound.policy),
  build: async ({ api_key, ...input }, building) => ({ document: { ...input, sealed_key: sealKey(input, api_key, building) } }),
  async checkRemoval({ document }, reader) {
    const [config] = await reader.searchConfig.all();
    if (config?.document.default_provider !== document.name) return;
    throw new Problem('in_use', 'The search provider is the default of the search configuration.', [{ field: 'default_provider', message: document.name }]);
  },
  toExport: ({ id, document: { sealed_key, ...document } }, { reseal }) => ({
    ...showSearchProvider(document),
    api_key: sealed_key === null ? null : reseal(sealed_key, sealedAs.searchProviderKey(id)),
  }),
};

type Built = BuildContext<SearchProviderDocument>;

/** A mask is kept for the very address that the key was given for: a key does not follow to another host. */
function sealKey(
  { base_url, kind }: Pick<SearchProviderInput, 'base_url' | 'kind'>,
  sent: string | null,
  { id, existing, context, prefix }: Built,
): string | null {
  if (sent === null) return null;
  const place = sealedAs.searchProviderKey(id);
  const stored = existing?.document.sealed_key ?? null;
  if (isMasked(sent)) {
    const same = existing?.document.base_url === base_url && existing.document.kind === kind;
    if (stored !== null && same) return renewSeal(context, stored, place);
    const message = stored === null ? 'is a mask: send the key' : 'must be sent again when the address or the kind changes';
    throw invalid([{ field: joinPath(prefix, 'api_key'), message }]);
  }
  return stored !== null && opens(context, stored, place) === sent ? renewSeal(context, stored, place) : context.keyring.seal(sent, place);
}
