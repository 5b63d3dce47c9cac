/** A conversation whose addressed media hold their bytes, for upstreams that open no addresses. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Conversation, MediaPart, Part } from '@model-gateway/protocols';
import type { Outbound } from '@model-gateway/upstream-client';
import { type FetchedFile, fetchUrl } from './fetch-url.ts';

/** What one request may have fetched for it. */
const maxFiles = 16;
const maxConcurrent = 4;
const maxFileBytes = 20 * 1024 * 1024;
const maxTotalBytes = 40 * 1024 * 1024;
const totalMs = 15_000;
const maxUrlLength = 8192;

/** The addresses that `opens` says the upstream does not open by itself, in order and once each. */
export function addressesOf(conversation: Conversation, opens: (part: MediaPart) => boolean): string[] {
  const found = new Set<string>();
  const look = (part: Part): void => {
    if (part.type === 'tool-result') for (const inner of part.content) look(inner);
    if (part.type === 'media' && isAddressed(part) && !opens(part)) found.add(part.url);
  };
  for (const turn of conversation.turns) for (const part of turn.parts) look(part);
  return [...found];
}

const isAddressed = (part: MediaPart): part is MediaPart & { url: string } =>
  part.data === undefined && part.text === undefined && part.url !== undefined && /^https?:\/\//i.test(part.url);

/** What a fetch belongs to. */
export interface FetchContext {
  /** Aborts the fetches. */
  signal: AbortSignal;
  /** The field that names the addresses, for a refusal; absent: `messages`. */
  param?: string;
}

/** Fetches what is not in `files` yet, a few at a time. Throws a 400 for what cannot be had: a model that answers about a picture it never saw helps nobody. */
export async function fetchAll(
  urls: readonly string[],
  files: Map<string, FetchedFile>,
  outbound: Outbound,
  { signal, param = 'messages' }: FetchContext,
): Promise<void> {
  const missing = urls.filter((url) => !files.has(url));
  if (missing.length > maxFiles) throw refusal(`At most ${maxFiles} addresses are fetched for one request.`, param);
  let left = maxTotalBytes;
  let next = 0;
  const failed = new AbortController();
  const worker = async (): Promise<void> => {
    for (let url = missing[next++]; url !== undefined; url = missing[next++]) {
      const file = isFetchable(url)
        ? await fetchUrl(outbound, url, { maxBytes: maxFileBytes, totalMs, signal: AbortSignal.any([signal, failed.signal]) })
        : null;
      if (file) left -= file.bytes;
      if (file && left >= 0) files.set(url, file);
      else {
        failed.abort();
        throw refusal(
          file ? 'The files that the request names are too large together.' : 'A file that the request names by its address could not be fetched.',
          param,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, missing.length) }, worker));
}

const refusal = (message: string, param: string): GatewayError => new GatewayError('invalid_request', { message, param });

function isFetchable(address: string): boolean {
  if (address.length > maxUrlLength || !URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username === '' && password === '';
}

/** The same conversation, its parts copied only where a file takes the place of an address. Throws a 400 when a file is not of its part's kind. */
export function withFiles(conversation: Conversation, files: ReadonlyMap<string, FetchedFile>, opens: (part: MediaPart) => boolean): Conversation {
  const inline = <P extends Part>(part: P): P => {
    if (part.type === 'tool-result') return { ...part, content: part.content.map(inline) };
    const file = part.type === 'media' && isAddressed(part) && !opens(part) ? files.get(part.url) : undefined;
    if (!file || part.type !== 'media') return part;
    if (!isOfKind(file.mimeType, part.kind)) throw refusal(`A file that the request names as ${part.kind} is ${file.mimeType}.`, 'messages');
    const { url: _url, ...rest } = part as MediaPart;
    return { ...rest, mimeType: file.mimeType, data: file.data } as P;
  };
  return { ...conversation, turns: conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map(inline) })) };
}

const isOfKind = (mimeType: string, kind: MediaPart['kind']): boolean =>
  kind === 'document' ? /^(?:application\/(?:pdf|json|xml)|text\/)/.test(mimeType) : mimeType.startsWith(`${kind}/`);
