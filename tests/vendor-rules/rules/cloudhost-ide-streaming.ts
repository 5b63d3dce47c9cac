/** The IDE assistant's streams. */
import { first, type Json, list, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad } from './kit.ts';

type Row = Omit<VendorRule, 'protocol'>;
interface Turn {
  user: Json | undefined;
  assistant: Json | undefined;
}

const stateOf = (body: Json): Json => objectOf(body['conversationState']);
const turnsOf = (body: Json): Turn[] =>
  [...list(stateOf(body)['history']), objectOf(stateOf(body)['currentMessage'])].map((turn) => ({
    user: turn['userInputMessage'] as Json | undefined,
    assistant: turn['assistantResponseMessage'] as Json | undefined,
  }));
const contextOf = (user: Json | undefined): Json => objectOf(objectOf(user)['userInputMessageContext']);
const idsOf = (entries: unknown): string[] => list(entries).map(({ toolUseId }) => textOf(toolUseId));
const malformed = (message = 'Improperly formed request.') => bad(message, { code: null });

const user = (content: string, context?: Json): Json => ({
  userInputMessage: { content, modelId: 'auto', origin: 'AI_EDITOR', ...(context && { userInputMessageContext: context }) },
});
const called = (id = 'tooluse_1'): Json => ({
  assistantResponseMessage: { content: 'I look.', toolUses: [{ toolUseId: id, name: 'weather', input: { city: 'Paris' } }] },
});
const toolResults = [{ toolUseId: 'tooluse_1', status: 'success', content: [{ text: 'sunny' }] }];
const tools = [{ toolSpecification: { name: 'weather', description: 'Tells it', inputSchema: { json: { type: 'object' } } } }];
const ask = (history: Json[], currentMessage: Json): Json => ({
  conversationState: { conversationId: 'c', chatTriggerType: 'MANUAL', history, currentMessage },
});

const rows: Row[] = [
  {
    id: 'cloudhost_ide_streaming.call-count',
    what: 'Calls without their results in the very next turn, and results without calls',
    source: 'https://github.com/diegosouzapw/OmniRoute/issues/2446',
    date: '2026-05-20',
    check({ body }) {
      const turns = turnsOf(body);
      return first(turns, (turn, at) => {
        if (!turn.user) return null;
        const open = new Set(idsOf(turns[at - 1]?.assistant?.['toolUses']));
        const results = idsOf(contextOf(turn.user)['toolResults']);
        return results.length === open.size && results.every((id) => open.has(id)) ? null : malformed();
      });
    },
    refused: [{ body: ask([user('hello'), called()], user('hello')) }, { body: ask([], user('', { toolResults })) }],
    accepted: [{ body: ask([user('hello'), called()], user('', { toolResults, tools })) }],
  },
  {
    id: 'cloudhost_ide_streaming.tools',
    what: 'Calls in the history, and no tools with the current message',
    source: 'https://github.com/mikeyobrien/pi-provider-kiro/issues/75',
    date: '2026-05-27',
    check({ body }) {
      const current = turnsOf(body).at(-1)?.user;
      return turnsOf(body).some(({ assistant }) => idsOf(assistant?.['toolUses']).length > 0) && list(contextOf(current)['tools']).length === 0
        ? malformed()
        : null;
    },
    refused: [{ body: ask([user('hello'), called()], user('', { toolResults })) }],
    accepted: [{ body: ask([user('hello'), called()], user('', { toolResults, tools })) }],
  },
];

export const ideStreamingRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'cloudhost_ide_streaming' }));
