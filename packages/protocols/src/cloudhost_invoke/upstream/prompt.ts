/** A conversation as one text, for models that complete a prompt: each turn between its template's marks. */
import type { Conversation, MediaPart, Part } from '../../chat/conversation.ts';
import { forcesCall } from '../../kit/forced-choice.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';

/** Prompt template of a completion model: the texts around system text and turns. */
export interface Template {
  begin: string;
  system(text: string): string;
  user(text: string): string;
  assistant(text: string): string;
  /** What the model goes on from. */
  end: string;
  /** The template's own marks: text that holds them could pass for another's turn. */
  marks: RegExp;
}

const headers = (open: string, close: string, end: string): Template => {
  const turn = (role: string) => (text: string) => `${open}${role}${close}\n\n${text}${end}`;
  return {
    begin: '<|begin_of_text|>',
    system: turn('system'),
    user: turn('user'),
    assistant: turn('assistant'),
    end: `${open}assistant${close}\n\n`,
    marks: /<\|(?=[a-z_]{1,32}\|>)/g,
  };
};

export const llama3 = headers('<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>');
export const llama4 = headers('<|header_start|>', '<|header_end|>', '<|eot|>');

export const instruct: Template = {
  begin: '<s>',
  system: (text) => `[INST] ${text} [/INST]`,
  user: (text) => `[INST] ${text} [/INST]`,
  assistant: (text) => ` ${text}</s>`,
  end: '',
  marks: /<(?=\/?s>)|\[(?=\/?INST\])/g,
};

export const bare: Template = {
  begin: '',
  system: (text) => `${text}\n\n`,
  user: (text) => `User: ${text}\n`,
  assistant: (text) => `Bot: ${text}\n`,
  end: 'Bot:',
  marks: /(?!)/g,
};

const withoutMarks = (text: string, { marks }: Template): string => text.replace(marks, (mark) => `${mark} `);

/** System text before all else that a prompt says. */
export function putSystem(prompt: string, text: string, template: Template): string {
  const begin = prompt.startsWith(template.begin) ? template.begin : '';
  return begin + template.system(withoutMarks(text, template)) + prompt.slice(begin.length);
}

export function writePrompt(conversation: Conversation, template: Template, losses: Losses): string {
  if (conversation.tools.some(({ type }) => type === 'server')) losses.add('tools.server', 'dropped', 'this model completes text and calls nothing');
  if (conversation.tools.length > 0) losses.add('tools', 'dropped', 'this model completes text and calls nothing');
  if (conversation.system.some(({ cache }) => cache)) declareCache(losses);
  if (forcesCall(conversation.toolChoice) || (conversation.toolChoice && conversation.tools.length > 0))
    losses.add('tool_choice', 'dropped', 'this model completes text and calls nothing');
  const plain = (text: string): string => {
    const safe = withoutMarks(text, template);
    if (safe !== text) losses.add('messages', 'downgraded', 'marks of the model’s own template were broken up in the text');
    return safe;
  };
  const system = conversation.system.map((part) => part.text).join('\n\n');
  let out = template.begin + (system.trim() === '' ? '' : template.system(plain(system)));
  for (const { role, parts, name } of conversation.turns) {
    if (name !== undefined) losses.add('name', 'dropped', 'turns have no names');
    const text = parts.flatMap((part) => wordsOf(part, losses)).join('\n');
    if (text.trim() !== '') out += template[role](plain(text));
  }
  return out + template.end;
}

const declareCache = (losses: Losses): void => losses.add('cache_control', 'dropped', 'this host caches no prompts of this model');

/** A plain text document is added to the prompt as text, after its title and its context. */
function documentWords({ title, filename, context, text = '' }: MediaPart, losses: Losses): string[] {
  losses.add('media', 'downgraded', 'a document of plain text was sent as text');
  return [...[title ?? filename, context].filter((words) => words !== undefined), text];
}

function wordsOf(part: Part, losses: Losses): string[] {
  if ('cache' in part && part.cache) declareCache(losses);
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [part.text];
    case 'media':
      if (part.text !== undefined) return documentWords(part, losses);
      losses.add('media', 'downgraded', `${part.kind} was replaced by a note`);
      if (part.detail !== undefined && part.detail !== 'auto') losses.add('media.detail', 'dropped', 'the image itself was left out');
      return [noteOmitted(part)];
    case 'thinking':
      losses.add('thinking', 'dropped', 'has no place in a prompt');
      return [];
    case 'tool-call':
      losses.add('tool_use', 'downgraded', 'told in words');
      return [`[called ${part.name} with ${part.arguments === '' ? '{}' : part.arguments}]`];
    case 'tool-result':
      losses.add('tool_result', 'downgraded', 'told in words');
      return [
        `[${part.isError ? 'failed result' : 'result'}${part.name === undefined ? '' : ` of ${part.name}`}]`,
        ...part.content.flatMap((inner) => wordsOf(inner, losses)),
      ];
  }
}
