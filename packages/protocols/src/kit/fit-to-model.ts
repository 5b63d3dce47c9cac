/**
 * Fits a conversation to what its model is known to be able to do, whatever the wire: pictures and files that it cannot read become a note in their
 * place, and a reply that the caller has begun, where the model would begin anew, is asked to be gone on with. A picture stays in an agent's history:
 * without the note each further request of the session would be refused.
 */
import type { Loss } from '@model-gateway/contracts';
import type { ModelFamily } from '@model-gateway/model-catalog';
import type { Conversation, MediaPart, Part, TextPart, Turn } from '../chat/conversation.ts';
import type { Target, UpstreamAdapter } from '../contract/index.ts';
import { familyOf } from './family.ts';
import { Losses } from './losses.ts';

/** null when the conversation fits as it is, which one pass tells. Never changes `conversation`. */
export function fitToModel(
  conversation: Conversation,
  target: Target,
  upstream: Pick<UpstreamAdapter, 'cites' | 'continuesReplies' | 'readsKind'> = {},
): { conversation: Conversation; losses: Loss[] } | null {
  const family = familyOf(target);
  const losses = new Losses();
  const isUnread = (part: Part): part is MediaPart => part.type === 'media' && !reads(part, family) && !(upstream.readsKind?.(part, target) ?? false);
  let { turns } = conversation;
  const asksToCite = (part: Part): boolean => part.type === 'media' && part.cite === true;
  const cites = upstream.cites?.(target) ?? false;
  if (holdsPart(turns, isSearchResult) && !cites) {
    losses.add('search_result', 'downgraded', 'A search result was turned into text.');
    turns = mapParts(turns, (part) => (isSearchResult(part) ? withoutSearchResult(part) : part));
  }
  if (holdsPart(turns, asksToCite) && !cites) {
    losses.dropped('citations', 'The model does not cite documents, or not on this wire.');
    turns = mapParts(turns, (part) => (asksToCite(part) ? withoutCite(part) : part));
  }
  if (holdsPart(turns, isUnread)) turns = mapParts(turns, (part) => (isUnread(part) ? (asText(part) ?? noteUnread(part, losses)) : part));
  if (isBegun(turns) && (family.begunReply === 'no' || upstream.continuesReplies === false)) {
    losses.add('messages.prefill', 'downgraded', 'An answer cannot be begun for the model: it was asked to go on.');
    turns = [...turns, { role: 'user', parts: [{ type: 'text', text: continuation }] }];
  }
  return turns === conversation.turns ? null : { conversation: { ...conversation, turns }, losses: losses.list };
}

const continuation = 'Continue.';

/** Whether the last turn is an answer of the model in words, which it is to continue. */
export function isBegun(turns: readonly Turn[]): boolean {
  const last = turns.at(-1);
  return last?.role === 'assistant' && last.parts.some((part) => part.type === 'text' && part.text.trim() !== '') && last.parts.at(-1)?.type !== 'tool-call';
}

/** Models that nothing is known of are taken to read what they are sent; text documents are text to all. */
function reads(part: MediaPart, family: ModelFamily): boolean {
  if (part.text !== undefined) return true;
  if (part.kind === 'image' || family.vision) return family.vision;
  return part.kind === 'document' && family.pdf;
}

/** Whether any part is such, results of tools included. */
const holdsPart = (turns: readonly Turn[], isSuch: (part: Part) => boolean): boolean =>
  turns.some(({ parts }) => parts.some((part) => isSuch(part) || (part.type === 'tool-result' && part.content.some(isSuch))));

/** Each part replaced, those inside results of tools too. */
const mapParts = (turns: readonly Turn[], replace: <T extends Part>(part: T) => T | TextPart | MediaPart): Turn[] =>
  turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part): Part => (part.type === 'tool-result' ? { ...part, content: part.content.map(replace) } : replace(part))),
  }));

const isSearchResult = (part: Part): boolean => part.type === 'text' && part.searchResult !== undefined;

function withoutSearchResult<T extends Part>(part: T): T {
  const { searchResult: _searchResult, ...rest } = part as T & TextPart;
  return rest as T;
}

function withoutCite<T extends Part>(part: T): T {
  const { cite: _cite, ...rest } = part as T & MediaPart;
  return rest as T;
}

/** What is text inside goes as text; writers say so. */
function asText(part: MediaPart): MediaPart | undefined {
  if (part.kind !== 'document' || part.data === undefined || !/^text\/|^application\/(?:json|xml|x-yaml|yaml)\b/.test(part.mimeType ?? '')) return undefined;
  const { data, ...rest } = part;
  return { ...rest, text: Buffer.from(data, 'base64').toString('utf8') };
}

function noteUnread(part: MediaPart, losses: Losses): TextPart {
  losses.add(`messages.${part.kind}`, 'downgraded', 'This model reads text only: a note stands in its place.');
  if (part.detail !== undefined && part.detail !== 'auto') losses.add('image.detail', 'dropped', 'The image itself was left out.');
  const url = part.url !== undefined && !/^data:/i.test(part.url) ? part.url.slice(0, maxAddressLength) : undefined;
  const described = [part.title ?? part.filename, part.context, url].filter((fact) => fact !== undefined && fact !== '');
  return { type: 'text', text: unreadNote(part.kind, described.join(', ')), ...(part.cache && { cache: part.cache }) };
}

/** Longest address, in characters, that is put into the note. */
const maxAddressLength = 2048;

/** The note that the model gets instead. `described`: the caller's own description of the media. */
export const unreadNote = (kind: string, described = ''): string => `[${kind} left out: this model reads text only${described === '' ? '' : `; ${described}`}]`;
