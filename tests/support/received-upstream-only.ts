/** What an upstream whose protocol no client speaks was asked, read from its own body without any of the gateway's code. */
import type { ReceivedRequest } from './received-request.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely; a wrong guess shows as a failed comparison.
type Json = any;

export type UpstreamOnly = 'delta' | 'cloudhost_ide_streaming';
type Asks = Pick<ReceivedRequest, 'system' | 'user' | 'tools' | 'images' | 'answered'>;

const textOf = (content: Json): string =>
  typeof content === 'string' ? content : (content ?? []).map((part: Json) => part.text ?? (part.json === undefined ? '' : JSON.stringify(part.json))).join('');

export const readHeardUpstreamOnly = (protocol: UpstreamOnly, body: Json): Asks => readers[protocol](body);

const readers: Record<UpstreamOnly, (body: Json) => Asks> = {
  delta({ input, parameters }) {
    const messages: Json[] = input.messages;
    const calls: Json[] = messages.flatMap((message) => message.tool_calls ?? []);
    const roleOf = (role: string) => messages.filter((one) => one.role === role);
    const parts: Json[] = messages.flatMap((one) => (Array.isArray(one.content) ? one.content : []));
    return {
      system: roleOf('system')
        .map((one) => textOf(one.content))
        .join('\n'),
      user: roleOf('user').map((one) => textOf(one.content)),
      tools: (parameters.tools ?? []).map((tool: Json) => tool.function.name),
      images: parts.flatMap((part) => (part.image ? [part.image.slice(part.image.indexOf(',') + 1)] : [])),
      answered: roleOf('tool').map((one) => ({ name: calls.find((call) => call.id === one.tool_call_id)?.function.name, result: textOf(one.content) })),
    };
  },
  cloudhost_ide_streaming({ conversationState: { history, currentMessage } }) {
    const users: Json[] = [...history, currentMessage].flatMap((entry: Json) => entry.userInputMessage ?? []);
    const answers: Json[] = history.flatMap((entry: Json) => entry.assistantResponseMessage ?? []);
    const uses = answers.flatMap((answer) => answer.toolUses ?? []);
    const hasSystem = answers[0]?.content === 'I will follow these instructions.';
    const spoken = (hasSystem ? users.slice(1) : users).map((user) => user.content).filter((text) => text !== '');
    const results: Json[] = users.flatMap((user) => user.userInputMessageContext?.toolResults ?? []);
    return {
      system: hasSystem ? users[0].content : '',
      user: spoken,
      tools: (currentMessage.userInputMessage.userInputMessageContext?.tools ?? []).map((tool: Json) => tool.toolSpecification.name),
      images: users.flatMap((user) => (user.images ?? []).map((image: Json) => image.source.bytes)),
      answered: results.map((result) => ({ name: uses.find((use) => use.toolUseId === result.toolUseId)?.name, result: textOf(result.content) })),
    };
  },
};
