/** The messages vendor's body on this host: its own request without model and stream, with a version in the body, and less than it takes elsewhere. */
import { beta, bodyLayout } from '../../beta/index.ts';
import type { Conversation } from '../../chat/conversation.ts';
import type { UpstreamAdapter, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import type { BodyShape } from './body-shape.ts';

export const version = 'bedrock-2023-05-31';

/** This host knows only its own version, which is a field of the body: neither the caller's header nor a setting changes what the body may contain. */
export const hostVersioned = <T extends WriteRequestContext>({ clientHeaders: _headers, ...context }: T): WriteRequestContext => ({
  ...context,
  target: { ...context.target, extraConfig: { ...context.target.extraConfig, api_version: null } },
});

/** Keys that the host refuses ("Extra inputs are not permitted"), or says in the address instead. */
export const refusedKeys = [
  'model',
  'stream',
  'service_tier',
  'container',
  'mcp_servers',
  'inference_geo',
  'speed',
  'betas',
  'cache_control',
  'thread',
] as const;

const messages = beta.upstream as UpstreamAdapter;

function writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest {
  const written = messages.writeRequest(conversation, { ...hostVersioned(context), operation: 'generate', stream: false });
  const losses = new Losses();
  for (const loss of written.losses) losses.add(loss.field, loss.action, loss.detail);
  const body: JsonObject = { anthropic_version: version, ...asObject(written.body) };
  for (const key of refusedKeys) {
    if (key === 'service_tier' && body[key] !== undefined) losses.add(key, 'dropped', 'this host does not take it in the body');
    delete body[key];
  }
  const absent = absentTools(body);
  if (absent.places.length > 0) losses.add('tools', 'dropped', 'tools of the vendor that this host does not run');
  if (absent.places.length > 0) body['tools'] = (asArray(body['tools']) ?? []).filter((_tool, place) => !absent.places.includes(place));
  if (asArray(body['tools'])?.length === 0) delete body['tools'];
  if (absent.choosesOne) delete body['tool_choice'];
  for (const { path, note } of unreadableSources(body)) {
    losses.add('media', 'downgraded', 'media by address cannot be opened by this host and was replaced by a note');
    place(body, path, note);
  }
  return { ...written, body, losses: losses.list };
}

/** Types of the vendor's own tools that this host does not run: it answers them with a 400. Those that the caller runs, it knows. */
const absentTool = /^(?:web_search|web_fetch|code_execution|advisor|mcp_toolset|browser_toolset)(?:_\d{8})?$/;
/** What a body with such a tool holds somewhere: most hold none of it, and need not be parsed. */
export const absentToolWords = ['web_search_', 'web_fetch_', 'code_execution_', 'advisor_', 'mcp_toolset', 'browser_toolset'] as const;

/** Where tools stand that the host does not run, and whether the choice of one has nothing left to choose. */
export function absentTools(body: unknown): { places: number[]; choosesOne: boolean } {
  const tools = asArray(own(body, 'tools')) ?? [];
  const places = tools.flatMap((tool, place) => (absentTool.test(asString(own(tool, 'type')) ?? '') ? [place] : []));
  const chosen = asString(own(own(body, 'tool_choice'), 'name'));
  const choosesOne =
    places.length > 0 && (places.length === tools.length || places.some((place) => chosen !== undefined && own(tools[place], 'name') === chosen));
  return { places, choosesOne };
}

type Path = (string | number)[];

/** Images and documents by address or file id, which this host does not open: where they stand, and the note that takes their place. */
export function unreadableSources(body: unknown): { path: Path; note: JsonObject }[] {
  const found: { path: Path; note: JsonObject }[] = [];
  const look = (block: unknown, path: Path): void => {
    const source = own(block, 'source');
    const type = asString(own(source, 'type'));
    if (type === 'url' || type === 'file') {
      const text = noteOmitted({ kind: asString(own(block, 'type')) ?? 'media', url: asString(own(source, 'url')) });
      found.push({ path, note: { type: 'text', text } });
    }
    if (own(block, 'type') === 'tool_result') (asArray(own(block, 'content')) ?? []).forEach((inner, at) => look(inner, [...path, 'content', at]));
  };
  (asArray(own(body, 'messages')) ?? []).forEach((message, turn) => {
    (asArray(own(message, 'content')) ?? []).forEach((block, at) => look(block, ['messages', turn, 'content', at]));
  });
  return found;
}

/** `path` was found in the same value, so all of it is there. */
function place(body: JsonObject, path: Path, value: unknown): void {
  let holder: unknown = body;
  for (const step of path.slice(0, -1)) holder = (holder as Record<string | number, unknown>)[step];
  (holder as Record<string | number, unknown>)[path.at(-1) as string | number] = value;
}

// A count wraps the whole body: none of its keys are a counter's.
const { counted: _counted, ...layout } = bodyLayout;

export const messagesShape: BodyShape = { layout: () => layout, writeRequest, createReader: messages.createReader, readWhole: messages.readWhole };
