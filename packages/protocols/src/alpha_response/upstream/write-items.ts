/** Canonical turns into items of `input`. */
import { writeBreakpoint } from '../../alpha/index.ts';
import type { CacheMark, MediaPart, Part, RefusalPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart, Turn } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import { writeDataUrl } from '../../kit/data-url.ts';
import { familyOf } from '../../kit/family.ts';
import { isForeignFile } from '../../kit/foreign-file.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';
import type { JsonObject } from '../../kit/read.ts';

export class ItemWriter {
  readonly items: JsonObject[] = [];
  /** A mark stood where the upstream takes none. */
  unmarked = false;
  readonly #breakpoints: boolean;
  readonly #context: WriteRequestContext;
  readonly #losses: Losses;
  readonly #ids: ReadonlyMap<ToolCallPart | ToolResultPart, string>;
  /** Calls of free-text tools by their id: what answers one is an item of its own kind, and not every caller's result says which it answers. */
  readonly #freeText = new Map<string, boolean>();
  /** Reasoning waits for the item it led to: alone it is a 400. */
  #reasoning: JsonObject[] = [];
  /** The message under construction: neighbouring parts of one role and phase share it. */
  #open: { role: Turn['role']; phase: string | undefined; content: JsonObject[] } | undefined;

  /** `ids`: under which id each call and each result goes. */
  constructor(context: WriteRequestContext, ids: ReadonlyMap<ToolCallPart | ToolResultPart, string>, losses: Losses) {
    this.#context = context;
    this.#breakpoints = familyOf(context.target).cacheBreakpoints;
    this.#ids = ids;
    this.#losses = losses;
  }

  writeTurn(turn: Turn, path: string): void {
    if (turn.name !== undefined) this.#losses.add(`${path}.name`, 'dropped', 'Turns have no names here.');
    for (const part of turn.parts) this.#writePart(turn.role, part, path);
    this.#closeMessage();
    if (this.#reasoning.length > 0) this.#losses.add(`${path}.reasoning`, 'dropped', 'Reasoning without an item after it is refused.');
    this.#reasoning = [];
  }

  #writePart(role: Turn['role'], part: Part, path: string): void {
    if ('cache' in part && part.cache && (!this.#breakpoints || role === 'assistant')) {
      this.#losses.add('messages.cache_control', 'dropped', 'The upstream places cache marks by itself.');
      this.unmarked = true;
    }
    switch (part.type) {
      case 'text':
        if (part.signature !== undefined) this.#dropSignature(path);
        return this.#say(role, { ...textPart(role, part), ...this.#mark(role, part.cache) }, role === 'assistant' ? part.phase : undefined);
      case 'refusal':
        return this.#say(role, role === 'assistant' ? { type: 'refusal', refusal: part.text } : textPart(role, part));
      case 'media':
        return this.#say(role, { ...this.#media(role, part, `${path}.media`), ...this.#mark(role, part.cache) });
      case 'thinking':
        return this.#think(part, path);
      case 'tool-call':
        return this.#call(part, path);
      case 'tool-result':
        return this.#answer(part, path);
    }
  }

  /** Only what is given to the model may be marked, not what it said. */
  #mark(role: Turn['role'], mark: CacheMark | undefined): object {
    return this.#breakpoints && role !== 'assistant' ? writeBreakpoint(mark) : {};
  }

  #say(role: Turn['role'], content: JsonObject, phase?: string): void {
    if (this.#open && (this.#open.role !== role || this.#open.phase !== phase)) this.#closeMessage();
    this.#open ??= { role, phase, content: [] };
    this.#open.content.push(content);
  }

  #closeMessage(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    this.#push({ role: open.role, content: open.content, ...(open.phase !== undefined && { phase: open.phase }) }, open.role === 'assistant');
  }

  #push(item: JsonObject, assistant: boolean): void {
    if (assistant) {
      // One by one, here and elsewhere: a spread call has a limit, and a caller decides how much there is.
      for (const reasoning of this.#reasoning) this.items.push(reasoning);
      this.#reasoning = [];
    }
    this.items.push(item);
  }

  /**
   * Reasoning can be replayed only with its signature. Its id is left out: with `store: false` the upstream knows none, and the signature is valid
   * without it.
   */
  #think(part: ThinkingPart, path: string): void {
    const opened = part.signature === undefined || part.redacted ? null : this.#context.openSignature(part.signature);
    if (opened === null) {
      this.#losses.add(`${path}.signature`, 'dropped', 'Reasoning is replayed only to the model and account that signed it.');
      return;
    }
    this.#closeMessage();
    const texts = part.summary ?? (part.text === '' ? [] : [part.text]);
    this.#reasoning.push({ type: 'reasoning', summary: texts.map((text) => ({ type: 'summary_text', text })), encrypted_content: opened });
  }

  #dropSignature(path: string): void {
    this.#losses.add(`${path}.signature`, 'dropped', 'Proofs stand on reasoning alone here.');
  }

  #call(part: ToolCallPart, path: string): void {
    if (part.signature !== undefined) this.#dropSignature(path);
    this.#closeMessage();
    const id = this.#ids.get(part) ?? part.id;
    this.#freeText.set(id, part.custom === true);
    const call = { call_id: id, name: part.name };
    this.#push(
      part.custom ? { type: 'custom_tool_call', ...call, input: part.arguments } : { type: 'function_call', ...call, arguments: part.arguments || '{}' },
      true,
    );
  }

  #answer(part: ToolResultPart, path: string): void {
    this.#closeMessage();
    if (part.isError) this.#losses.add('tool_result.is_error', 'emulated', 'A failed tool result is marked in its text only.');
    const id = this.#ids.get(part) ?? part.callId;
    const custom = this.#freeText.get(id) ?? part.custom === true;
    this.#push({ type: custom ? 'custom_tool_call_output' : 'function_call_output', call_id: id, output: this.#output(part, path) }, false);
  }

  #output(part: ToolResultPart, path: string): unknown {
    const content = part.isError ? sayError(part.content) : part.content;
    const [first, ...rest] = content;
    if (!first) return '';
    const marked = this.#breakpoints && (part.cache !== undefined || content.some(({ cache }) => cache !== undefined));
    if (rest.length === 0 && first.type === 'text' && !marked) return first.text;
    return content.map((piece, index) => ({
      ...(piece.type === 'text' ? textPart('user', piece) : this.#media('user', piece, `${path}.tool_result`)),
      ...this.#mark('user', (index === content.length - 1 ? part.cache : undefined) ?? piece.cache),
    }));
  }

  #media(role: Turn['role'], part: MediaPart, path: string): JsonObject {
    const printed = role === 'user' ? writeMedia(part) : null;
    if (part.context !== undefined) this.#losses.add(`${path}.context`, 'dropped', 'A document carries no remark.');
    if (printed && part.text !== undefined) this.#losses.add(path, 'downgraded', 'A plain-text document is sent as text.');
    if (printed) return printed;
    // Never silently: the model gets a note that something was left out, and the operator a loss.
    this.#losses.add(path, 'dropped', role === 'user' ? 'This endpoint takes images and files only.' : 'Only users may send files.');
    return textPart(role, { type: 'text', text: noteOmitted(part) });
  }
}

/** A result cannot be marked as failed here, so its words say it, unless they do already. */
function sayError(content: ToolResultPart['content']): ToolResultPart['content'] {
  const [first, ...rest] = content;
  if (first?.type !== 'text') return [{ type: 'text', text: 'Error:' }, ...content];
  return /^error\b/i.test(first.text) ? content : [{ ...first, text: `Error: ${first.text}` }, ...rest];
}

const textPart = (role: Turn['role'], part: TextPart | RefusalPart): JsonObject => ({
  type: role === 'assistant' ? 'output_text' : 'input_text',
  text: part.text,
});

function writeMedia(part: MediaPart): JsonObject | null {
  if (part.fileId !== undefined && isForeignFile(part.fileId)) return null;
  const url = part.data === undefined ? part.url : writeDataUrl(part.mimeType ?? (part.kind === 'image' ? 'image/png' : 'application/pdf'), part.data);
  if (part.kind === 'image') {
    const source = url === undefined ? { file_id: part.fileId } : { image_url: url };
    return { type: 'input_image', ...source, ...(part.detail !== undefined && { detail: part.detail }) };
  }
  if (part.kind !== 'document') return null;
  const filename = part.filename ?? part.title;
  if (part.text !== undefined) return { type: 'input_text', text: filename === undefined ? part.text : `${filename}\n\n${part.text}` };
  // Inline data without a name is refused; an address must come without one.
  if (part.data !== undefined) return { type: 'input_file', filename: filename ?? defaultName(part.mimeType), file_data: url };
  return part.url === undefined ? { type: 'input_file', file_id: part.fileId } : { type: 'input_file', file_url: part.url };
}

const extensions: ReadonlyMap<string, string> = new Map([
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['application/json', 'json'],
]);

const defaultName = (mimeType: string | undefined): string => `document.${extensions.get(mimeType ?? '') ?? 'pdf'}`;
