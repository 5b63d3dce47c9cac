/** The one search configuration: which provider is asked, and within which bounds. It has a row once somebody sets it. */
import { type SearchConfig, searchConfigSchema } from '@model-gateway/contracts';
import type { SearchConfigDocument } from '@model-gateway/storage';
import { invalid } from '../problem.ts';
import { joinPath } from '../validation/read-input.ts';
import type { Resource } from './resource.ts';

export const searchConfig: Resource<SearchConfigDocument, SearchConfig> = {
  path: 'search-config',
  noun: 'search configuration',
  entityType: 'search_config',
  sortable: ['name'],
  schema: searchConfigSchema,
  partial: searchConfigSchema.partial(),
  answer: searchConfigSchema,
  reader: (reader) => reader.searchConfig,
  writer: (writer) => writer.searchConfig,
  toInput: (document) => ({ ...document }),
  toReply: (document) => ({ ...document }),
  check: () => [],
  build: async (input) => ({ document: input }),
  async checkLinks({ default_provider }, { reader, prefix }) {
    if (default_provider === null || (await reader.searchProviders.find(default_provider))) return;
    throw invalid([{ field: joinPath(prefix, 'default_provider'), message: 'there is no search provider of this name' }]);
  },
  checkRemoval: async () => undefined,
  toExport: ({ document }) => ({ ...document }),
};
