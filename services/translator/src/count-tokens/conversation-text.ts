/** The text of a conversation as a tokenizer sees it, near enough: all text, tool schemas and arguments; media count as a flat sum elsewhere. */
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
