/** The text of a conversation as a tokenizer sees it, near enough: all text, tool schemas and arguments; media count by `mediaTokens`. */
import type { Conversation, Part } from '@model-gateway/protocols';

export function conversationText(conversation: Conversation): string {
  const pieces = conversation.system.map((part) => part.text);
  for (const turn of conversation.turns) for (const part of turn.parts) pieces.push(...partTexts(part));
  for (const tool of conversation.tools) pieces.push(tool.name, tool.description ?? '', tool.parameters === undefined ? '' : JSON.stringify(tool.parameters));
  return pieces.filter((piece) => piece !== '').join('\n');
}

function partTexts(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return [part.text];
    case 'media':
      return part.text === undefined ? [] : [part.text];
    case 'tool-call':
      return [part.name, part.arguments];
    case 'tool-result':
      return part.content.flatMap(partTexts);
  }
}

/** What vendors charge for media, near enough: an image of usual size, a page of a PDF for each 40 KB of it, audio and video by their bytes. */
const imageTokens = 1200;
const pageTokens = 2000;
const pageBytes = 40_000;
const bytesPerToken = 1000;

/** Tokens of the images, documents, audio and video in a conversation. What is only named by an address counts as one of its kind. */
export function mediaTokens(conversation: Conversation): number {
  let tokens = 0;
  const add = (part: Part): void => {
    if (part.type === 'tool-result') for (const inner of part.content) add(inner);
    if (part.type !== 'media' || part.text !== undefined) return;
    const bytes = (part.data?.length ?? 0) * 0.75;
    if (part.kind === 'image') tokens += imageTokens;
    else if (part.kind === 'document') tokens += pageTokens * Math.max(1, Math.ceil(bytes / pageBytes));
    else tokens += Math.max(pageTokens, Math.ceil(bytes / bytesPerToken));
  };
  for (const turn of conversation.turns) for (const part of turn.parts) add(part);
  return tokens;
}
