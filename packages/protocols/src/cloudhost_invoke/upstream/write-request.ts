/** The conversation in the body of the model's own vendor. */
import type { Conversation } from '../../chat/conversation.ts';
import type { WriteRequestContext, WrittenRequest } from '../../contract/index.ts';
import { shapeOf } from './shapes.ts';

export function writeRequest(conversation: Conversation, context: WriteRequestContext): WrittenRequest {
  const written = shapeOf(context.target).writeRequest(conversation, context);
  if (context.operation !== 'count-tokens') return written;
  // The counter takes the whole body as bytes.
  return { ...written, body: { input: { invokeModel: { body: Buffer.from(JSON.stringify(written.body), 'utf8').toString('base64') } } } };
}
