/** One body format of this host. */
import type { BodyLayout } from '../../body-layout.ts';
import type { Conversation } from '../../chat/conversation.ts';
import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, Target, WriteRequestContext, WrittenRequest } from '../../contract/index.ts';

/** Codec of one body format: request writer, stream reader and reader of whole replies. */
export interface BodyShape {
  /** Where the parts of the body stand. The same object for the same target. */
  layout(target: Target): BodyLayout;
  writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest;
  /** Reads what stands inside the host's chunks. */
  createReader(target: Target): ReplyReader;
  readWhole(body: unknown, target: Target): ChatEvent[];
}
