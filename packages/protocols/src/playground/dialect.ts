/** A client protocol as the console's playground speaks it: in the browser, from typed words to a request and from events to words. Nothing here needs Node. */
import type { ProtocolId } from '@model-gateway/contracts';

/** Image attached to a turn. */
export interface PlaygroundImage {
  mediaType: string;
  base64: string;
}

/** One turn of the playground's conversation. */
export interface PlaygroundTurn {
  role: 'user' | 'assistant';
  text: string;
  images: readonly PlaygroundImage[];
}

/** Function declared to the model; `parameters` is a JSON schema. */
export interface PlaygroundTool {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  parameters: Readonly<Record<string, unknown>>;
}

/** What the playground's form holds, independent of the protocol. */
export interface PlaygroundRequest {
  model: string;
  system: string;
  turns: readonly PlaygroundTurn[];
  tools: readonly PlaygroundTool[];
  maxTokens: number;
  temperature: number | null;
  stream: boolean;
}

/** What an event adds to the reply. Pieces of one call share their `id`; a name comes once, arguments in parts. */
export type PlaygroundPiece =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'tool'; id: string; name?: string; arguments: string }
  | { kind: 'usage'; input?: number; output?: number }
  | { kind: 'finish'; reason: string }
  | { kind: 'error'; message: string };

/** What of a stored request a conversation can go on from: words alone, without images, calls and their results. */
export interface PlaygroundStart {
  system: string;
  turns: readonly PlaygroundTurn[];
  maxTokens: number | null;
  temperature: number | null;
}

/** How the playground sends a request in one client protocol and reads its reply in the browser. */
export interface PlaygroundDialect {
  id: ProtocolId;
  /** Below the gateway's address. */
  path: (request: PlaygroundRequest) => string;
  headers: (key: string) => Record<string, string>;
  body: (request: PlaygroundRequest) => Record<string, unknown>;
  /** Of one event of a stream, its JSON parsed. Events of no interest give nothing. */
  readEvent: (event: unknown) => PlaygroundPiece[];
  readWhole: (reply: unknown) => PlaygroundPiece[];
  /** Of a body that any caller sent. */
  readRequest: (body: unknown) => PlaygroundStart;
  /** A whole reply with these words, for those who try a change of replies. */
  sampleReply: (words: string, model: string) => Record<string, unknown>;
}

/** Reads a path of untrusted JSON; undefined where it does not exist. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

export const textPiece = (kind: 'text' | 'thinking', value: unknown): PlaygroundPiece[] => (text(value) ? [{ kind, text: text(value) }] : []);
export const finishPiece = (reason: unknown): PlaygroundPiece[] => (text(reason) ? [{ kind: 'finish', reason: text(reason) }] : []);

export function usagePiece(input: unknown, output: unknown): PlaygroundPiece[] {
  const [read, written] = [count(input), count(output)];
  return read === undefined && written === undefined
    ? []
    : [{ kind: 'usage', ...(read !== undefined && { input: read }), ...(written !== undefined && { output: written }) }];
}

/** Every protocol puts a message into `error.message` or is silent. */
export const errorPiece = (value: unknown): PlaygroundPiece[] => {
  const message = text(at(value, 'error', 'message'));
  return message ? [{ kind: 'error', message }] : [];
};

/** The words of a content that is a text or a list of parts with a `text` each. */
export const wordsOf = (content: unknown): string =>
  text(content) ||
  list(content)
    .map((part) => text(at(part, 'text')))
    .filter(Boolean)
    .join('\n');

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Turns without text are left out; roles other than the two known ones count as user. */
export function startOf(system: string, turns: readonly { role: unknown; words: string }[], maxTokens: unknown, temperature: unknown): PlaygroundStart {
  return {
    system,
    turns: turns
      .filter(({ words }) => words !== '')
      .map(({ role, words }) => ({ role: role === 'assistant' || role === 'model' ? 'assistant' : 'user', text: words, images: [] })),
    maxTokens: numberOrNull(maxTokens),
    temperature: numberOrNull(temperature),
  };
}

export const dataUrl = ({ mediaType, base64 }: PlaygroundImage): string => `data:${mediaType};base64,${base64}`;
