/** The vendor's search and its reading of pages: how they are declared, and what a candidate says of them. */
import type { Tool } from '../../chat/conversation.ts';
import type { CitedRange, HostedKind, HostedOutcome, HostedPage, HostedTool, HostedToolsCodec, HostedUse } from '../../contract/index.ts';
import { asObject } from '../../kit/read.ts';
import { field, listField, objectField } from '../shared/fields.ts';
import type { Looked } from '../shared/wire.ts';

/** `googleSearchRetrieval`: the name that the search had before. */
const kinds: ReadonlyMap<string, HostedKind> = new Map([
  ['googleSearch', 'web_search'],
  ['googleSearchRetrieval', 'web_search'],
  ['urlContext', 'web_fetch'],
]);

/** A tool whose use is reported with the candidate. */
export const isHosted = ({ type, name, rawProtocol }: Tool): boolean => type === 'server' && rawProtocol === 'gamma' && kinds.has(name);

function read(tool: Tool): HostedTool | null {
  const kind = isHosted(tool) ? kinds.get(tool.name) : undefined;
  if (kind === undefined) return null;
  const options = asObject(field(tool.raw, tool.name));
  const blocked = listField(options, 'excludeDomains').filter((entry): entry is string => typeof entry === 'string');
  return { kind, ...(blocked.length > 0 && { blocked }) };
}

const lookedFor = ({ kind, input }: HostedUse, outcome: HostedOutcome): Looked =>
  kind === 'web_search' ? { query: input } : { retrievedUrl: input, urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${outcome.ok ? 'SUCCESS' : 'ERROR'}` };

export const hostedTools: HostedToolsCodec = {
  idPrefix: 'ws_',
  read,
  offerKeys: ['tools'],
  offered: (value) =>
    listField({ tools: value('tools') }, 'tools').flatMap((tool) => [...kinds].flatMap(([name, kind]) => (objectField(tool, name) ? [kind] : []))),
  begin: () => [],
  end: (use, outcome) => [
    { type: 'block-start', index: use.index, block: { type: 'raw', protocol: 'gamma', value: { looked: lookedFor(use, outcome) } } },
    { type: 'block-end', index: use.index },
  ],
  cite: ({ url, title }: HostedPage, [start_index, end_index]: CitedRange) => ({ annotation: { type: 'url_citation', url, title, start_index, end_index } }),
};
