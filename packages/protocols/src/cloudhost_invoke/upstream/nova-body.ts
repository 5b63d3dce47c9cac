/** Nova's own body: what Converse says, with the vendor's own settings among the inference settings, and its events as keys. */

import type { Conversation } from '../../chat/conversation.ts';
import type { ChatEvent } from '../../chat/event.ts';
import { bodyLayout, ConverseReader, readWhole, writeRequest as writeConverse } from '../../cloudhost_converse/index.ts';
import type { ReplyReader, StreamRecord, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';
import { asArray, asObject, asString, own } from '../../kit/read.ts';
import type { BodyShape } from './body-shape.ts';

function writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest {
  const written = writeConverse(conversation, { ...context, operation: 'generate' });
  const losses = new Losses();
  for (const loss of written.losses) losses.add(loss.field, loss.action, loss.detail);
  const { messages, system, toolConfig, inferenceConfig, additionalModelRequestFields: additional, serviceTier } = asObject(written.body) ?? {};
  if (serviceTier !== undefined) losses.add('service_tier', 'dropped', 'this host does not take it in the body');
  const { inferenceConfig: more, ...fields } = asObject(additional) ?? {};
  const settings = { ...asObject(inferenceConfig), ...asObject(more), ...fields };
  for (const message of asArray(messages) ?? []) withoutDocuments(message, losses);
  const body = {
    schemaVersion: 'messages-v1',
    messages,
    ...(system !== undefined && { system }),
    ...(toolConfig !== undefined && { toolConfig }),
    ...(Object.keys(settings).length > 0 && { inferenceConfig: settings }),
  };
  return { ...written, body, losses: losses.list };
}

/** Documents are known to Converse alone. `holder` is ours and is changed. */
function withoutDocuments(holder: unknown, losses: Losses): void {
  const content = asArray(own(holder, 'content'));
  content?.forEach((block, at) => {
    if (own(block, 'toolResult') !== undefined) return withoutDocuments(own(block, 'toolResult'), losses);
    if (own(block, 'document') === undefined) return;
    content[at] = { text: wordsOf(own(block, 'document'), losses) };
  });
}

const readable: ReadonlySet<string> = new Set(['txt', 'md', 'csv', 'html']);

/** A document of text is words like any other; of all others what they are called. */
function wordsOf(document: unknown, losses: Losses): string {
  const name = asString(own(document, 'name'));
  // A name that was made up tells nothing.
  const title = name === undefined || /^document(?: \(\d+\))?$/.test(name) ? undefined : name;
  const context = asString(own(document, 'context'));
  const bytes = asString(own(own(document, 'source'), 'bytes'));
  if (bytes === undefined || !readable.has(asString(own(document, 'format')) ?? '')) {
    losses.add('media', 'downgraded', 'documents cannot be sent in this body and were replaced by a note');
    return noteOmitted({ kind: 'document', ...(title !== undefined && { title }), ...(context !== undefined && { context }) });
  }
  losses.add('media', 'emulated', 'a document of text was sent as text');
  return [title, context, Buffer.from(bytes, 'base64').toString('utf8')].filter((words) => words !== undefined).join('\n');
}

/** `{"contentBlockDelta": {…}}`: the one key that names an event says which. */
class NovaReader implements ReplyReader {
  readonly #inner = new ConverseReader();

  read({ json }: StreamRecord): ChatEvent[] {
    return Object.keys(asObject(json) ?? {}).flatMap((key) => this.#inner.readEvent(key, own(json, key)));
  }

  finish(): ChatEvent[] {
    return this.#inner.finish();
  }
}

export const novaShape: BodyShape = { layout: () => bodyLayout, writeRequest, createReader: () => new NovaReader(), readWhole };
