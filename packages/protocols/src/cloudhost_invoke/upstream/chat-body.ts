/** Chat completions as several vendors have them here: without model and stream, and with `message` and `stop_reason` where older ones say so. */
import { alpha, bodyLayout } from '../../alpha/index.ts';
import type { Conversation } from '../../chat/conversation.ts';
import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord, Target, UpstreamAdapter, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { asArray, asObject, type JsonObject, own } from '../../kit/read.ts';
import type { BodyShape } from './body-shape.ts';

const chat = alpha.upstream as UpstreamAdapter;

function writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest {
  const written = chat.writeRequest(conversation, { ...context, operation: 'generate', stream: false });
  const { model: _model, ...body } = asObject(written.body) ?? {};
  return { ...written, body };
}

/** The names that the protocol has for what some vendors call otherwise here. */
function asChat(json: unknown, streamed: boolean): unknown {
  const choices = asArray(own(json, 'choices'));
  if (!choices) return json;
  return { ...asObject(json), choices: choices.map((choice) => withUsualNames(asObject(choice) ?? {}, streamed)) };
}

function withUsualNames(choice: JsonObject, streamed: boolean): JsonObject {
  const { message, stop_reason: reason, ...others } = choice;
  return {
    ...others,
    ...(message !== undefined && (streamed && others['delta'] === undefined ? { delta: message } : { message })),
    ...(reason !== undefined && others['finish_reason'] === undefined && { finish_reason: reason }),
  };
}

class ChatReader implements ReplyReader {
  readonly #inner: ReplyReader;

  constructor(target: Target) {
    this.#inner = chat.createReader(target);
  }

  read(record: StreamRecord): ChatEvent[] {
    return this.#inner.read({ ...record, json: asChat(record.json, true) });
  }

  /** The end of the body is the terminator here; what was finished is then complete. */
  finish(): ChatEvent[] {
    return this.#inner.finish();
  }
}

export const chatShape: BodyShape = {
  layout: () => bodyLayout,
  writeRequest,
  createReader: (target) => new ChatReader(target),
  readWhole: (body, target) => chat.readWhole(asChat(body, false), target),
};
