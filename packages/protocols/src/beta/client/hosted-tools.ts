/** The vendor's hosted web search and web fetch: how they are declared, and the blocks that show their use. */
import type { Tool } from '../../chat/conversation.ts';
import type { ChatEvent } from '../../chat/event.ts';
import type {
  CitedRange,
  HostedFault,
  HostedKind,
  HostedOutcome,
  HostedPage,
  HostedTool,
  HostedToolsCodec,
  HostedUse,
  SealPage,
} from '../../contract/index.ts';
import { writePageToken } from '../../kit/found-page-token.ts';
import { asArray, asNumber, asString, own } from '../../kit/read.ts';
import { readUserPlace } from '../../kit/user-place.ts';

const kinds: readonly [RegExp, HostedKind][] = [
  [/^web_search_\d{8}$/, 'web_search'],
  [/^web_fetch_\d{8}$/, 'web_fetch'],
];

const strings = (value: unknown): string[] | undefined => asArray(value)?.filter((entry): entry is string => typeof entry === 'string');

function kindOf(raw: unknown): HostedKind | undefined {
  const type = asString(own(raw, 'type')) ?? '';
  return kinds.find(([pattern]) => pattern.test(type))?.[1];
}

function read({ raw }: Tool): HostedTool | null {
  const kind = kindOf(raw);
  if (kind === undefined) return null;
  const [maxUses, allowed, blocked] = [asNumber(own(raw, 'max_uses')), strings(own(raw, 'allowed_domains')), strings(own(raw, 'blocked_domains'))];
  const place = readUserPlace(own(raw, 'user_location'));
  return { kind, ...(maxUses !== undefined && { maxUses }), ...(allowed && { allowed }), ...(blocked && { blocked }), ...(place && { place }) };
}

const inputOf = ({ kind, input }: HostedUse) => (kind === 'web_search' ? { query: input } : { url: input });

const block = (index: number, value: unknown, deltas: readonly unknown[] = []): ChatEvent[] => [
  { type: 'block-start', index, block: { type: 'raw', protocol: 'beta', value } },
  ...deltas.map((delta): ChatEvent => ({ type: 'raw-delta', index, value: delta })),
  { type: 'block-end', index },
];

const begin = (use: HostedUse): ChatEvent[] =>
  block(use.index, { type: 'server_tool_use', id: use.id, name: use.kind, input: {} }, [
    { type: 'input_json_delta', partial_json: JSON.stringify(inputOf(use)) },
  ]);

const faults: Readonly<Record<HostedFault, readonly [search: string, fetch: string]>> = {
  'max-uses': ['max_uses_exceeded', 'max_uses_exceeded'],
  unavailable: ['unavailable', 'unavailable'],
  'too-many-requests': ['too_many_requests', 'too_many_requests'],
  'invalid-input': ['invalid_tool_input', 'invalid_tool_input'],
  'too-long': ['query_too_long', 'url_too_long'],
  'not-allowed': ['unavailable', 'url_not_allowed'],
  'not-accessible': ['unavailable', 'url_not_accessible'],
  'unsupported-type': ['unavailable', 'unsupported_content_type'],
  'too-large': ['unavailable', 'unavailable'],
};

function contentOf({ kind }: HostedUse, outcome: HostedOutcome, seal: SealPage): unknown {
  const isSearch = kind === 'web_search';
  if (!outcome.ok) return { type: `${kind}_tool_result_error`, error_code: faults[outcome.code][isSearch ? 0 : 1] };
  if (isSearch)
    return outcome.pages.map(({ url, title, text, age }) => ({
      type: 'web_search_result',
      url,
      title,
      encrypted_content: writePageToken(text, seal),
      page_age: age ?? null,
    }));
  const [page] = outcome.pages;
  return {
    type: 'web_fetch_result',
    url: page?.url ?? '',
    content: {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: page?.text ?? '' },
      title: page?.title ?? null,
      citations: { enabled: true },
    },
    retrieved_at: outcome.at,
  };
}

const end = (use: HostedUse, outcome: HostedOutcome, seal: SealPage): ChatEvent[] =>
  block(use.index + 1, { type: `${use.kind}_tool_result`, tool_use_id: use.id, content: contentOf(use, outcome, seal) });

/** The vendor quotes at most this much of a page. */
const maxQuote = 150;

const cite = ({ url, title, text }: HostedPage, _range: CitedRange, seal: SealPage): unknown => ({
  type: 'citations_delta',
  citation: { type: 'web_search_result_location', url, title, encrypted_index: writePageToken(url, seal), cited_text: text.slice(0, maxQuote) },
});

export const hostedTools: HostedToolsCodec = {
  idPrefix: 'srvtoolu_',
  read,
  offerKeys: ['tools'],
  offered: (value) => (asArray(value('tools')) ?? []).flatMap((tool) => kindOf(tool) ?? []),
  begin,
  end,
  cite,
};
