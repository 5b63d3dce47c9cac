/** Calls of one question and one answer as the console's playground makes them: pictures, sound, its words, vectors, ranks, judgements. Nothing here needs Node. */
import type { Operation, ProtocolId } from '@model-gateway/contracts';
import { at, list, text } from './dialect.ts';

/** What the playground's form asks for: a call names those that it uses. */
export interface PlaygroundInput {
  model: string;
  text: string;
  /** Documents to put in an order. */
  documents: readonly string[];
  voice: string;
  size: string;
  language: string;
  /** Of a vector; null: the model's own. */
  dimensions: number | null;
}

export type PlaygroundField = 'text' | 'texts' | 'documents' | 'voice' | 'size' | 'language' | 'dimensions';

/** A document's place in the request, and how relevant it is. */
export interface PlaygroundRank {
  index: number;
  score: number;
}

/** What of an answer is shown. Sound is not here: it is the answer's bytes. */
export type PlaygroundResult =
  | { kind: 'picture'; url: string }
  /** A picture that is somewhere else: it is not fetched. */
  | { kind: 'link'; url: string }
  | { kind: 'text'; text: string }
  | { kind: 'vector'; values: readonly number[] }
  | { kind: 'ranks'; ranks: readonly PlaygroundRank[] }
  | { kind: 'judgement'; flagged: boolean; categories: readonly { name: string; flagged: boolean; score: number | null }[] };

/** How the playground makes one kind of call. */
export interface PlaygroundCall {
  clientProtocol: ProtocolId;
  operation: Operation;
  /** Below the gateway's address. */
  path: string;
  headers: (key: string) => Record<string, string>;
  /** What its form shows, in this order. */
  fields: readonly PlaygroundField[];
  /** The call is a form with a file of this name. Absent: JSON. */
  file?: { field: string; accept: string };
  body: (input: PlaygroundInput) => Record<string, unknown>;
  /** Of a reply's JSON, or of its text where it is not JSON. */
  readReply: (reply: unknown) => PlaygroundResult[];
}

/** How a picture's bytes begin, in base64. */
const beginnings = [
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
  ['PHN2Zy', 'image/svg+xml'],
  ['PD94bW', 'image/svg+xml'],
] as const;

/** What its first bytes say; PNG where they say nothing. */
export const pictureUrl = (base64: string): string => `data:${beginnings.find(([begin]) => base64.startsWith(begin))?.[1] ?? 'image/png'};base64,${base64}`;

/** Pictures in the form of `/v1/images`. Addresses of other kinds than the web's are left out: a click must not run anything. */
export const readPictures = (reply: unknown): PlaygroundResult[] =>
  list(at(reply, 'data')).flatMap((one): PlaygroundResult[] => {
    const [data, url] = [text(at(one, 'b64_json')), text(at(one, 'url'))];
    if (data) return [{ kind: 'picture', url: pictureUrl(data) }];
    if (/^data:image\//i.test(url)) return [{ kind: 'picture', url }];
    return /^https?:\/\//i.test(url) ? [{ kind: 'link', url }] : [];
  });

export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
