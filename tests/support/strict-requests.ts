/**
 * What the real vendors refuse in a conversation, for each protocol that an upstream may speak: order of turns, calls without results and the other
 * way round, ids and names, empty blocks, proofs of another account. Written from their documentation, without the gateway's own code.
 */

type Json = Record<string, unknown>;
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter((one): one is Json => typeof one === 'object' && one !== null) : []);
const blank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';

/** Collects faults; the first ones say enough. */
class Judge {
  readonly faults: string[] = [];
  expect(holds: boolean, fault: string): void {
    if (!holds && this.faults.length < 10) this.faults.push(fault);
  }
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** `isOwnProof`: whether this very upstream issued the proof. */
type Rule = (body: Json, judge: Judge, isOwnProof: (proof: unknown) => boolean) => void;

/** Chat messages: every call is answered before anything else is said. */
function judgeChat(messages: Json[], judge: Judge, imagesAnywhere: boolean): void {
  let open = new Set<unknown>();
  for (const [at, message] of messages.entries()) {
    const where = `messages.${at}`;
    const { role, content } = message;
    if (role === 'tool') {
      judge.expect(open.delete(message['tool_call_id']), `${where}: a result without its call`);
      continue;
    }
    judge.expect(open.size === 0, `${where}: calls before it have no result`);
    const calls = list(message['tool_calls']);
    open = new Set(calls.map(({ id }) => id));
    judge.expect(open.size === calls.length, `${where}: two calls share an id`);
    for (const call of calls) {
      judge.expect(typeof call['id'] === 'string' && call['id'].length <= 64, `${where}: an id of more than 64 characters`);
      judge.expect(toolName.test(String((call['function'] as Json | undefined)?.['name'])), `${where}: a tool's name`);
    }
    if (role === 'assistant')
      judge.expect(calls.length > 0 || !blank(typeof content === 'string' ? content : JSON.stringify(content)), `${where}: an empty assistant turn`);
    if (role !== 'user' && !imagesAnywhere) judge.expect(!list(content).some(({ type }) => type === 'image_url'), `${where}: an image outside a user turn`);
  }
  judge.expect(open.size === 0, 'the last calls have no result');
}

const judgeMessages: Rule = (body, judge, isOwnProof) => {
  const messages = list(body['messages']);
  judge.expect(messages[0]?.['role'] === 'user', 'the first message is not the user’s');
  const seen = new Set<unknown>();
  let open = new Set<unknown>();
  for (const [at, { role, content }] of messages.entries()) {
    const where = `messages.${at}`;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
    judge.expect(blocks.length > 0, `${where}: no content`);
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => (block as Json)['tool_use_id']);
    if (open.size > 0) judge.expect(results.length === open.size && results.every((id) => open.has(id)), `${where}: does not answer the calls before it`);
    else judge.expect(results.length === 0, `${where}: results without calls`);
    open = new Set();
    for (const block of blocks as Json[]) {
      if (block['type'] === 'text') judge.expect(!blank(block['text']), `${where}: an empty text`);
      if (block['type'] === 'thinking') {
        judge.expect(role === 'assistant', `${where}: thinking outside an assistant turn`);
        judge.expect(isOwnProof(block['signature']), `${where}: a signature that is not this account’s`);
      }
      if (block['type'] !== 'tool_use') continue;
      judge.expect(/^[a-zA-Z0-9_-]{1,64}$/.test(String(block['id'])) && !seen.has(block['id']), `${where}: the id of a call`);
      judge.expect(toolName.test(String(block['name'])), `${where}: a tool's name`);
      seen.add(block['id']);
      open.add(block['id']);
    }
  }
  judge.expect(open.size === 0, 'the last calls have no result');
};

/** Strictly alternating turns, and as many results as calls, in Converse's words. */
const judgeConverse: Rule = (body, judge, isOwnProof) => {
  const messages = list(body['messages']);
  let open = new Set<unknown>();
  let usesTools = false;
  for (const [at, { role, content }] of messages.entries()) {
    const where = `messages.${at}`;
    judge.expect(role === (at % 2 === 0 ? 'user' : 'assistant'), `${where}: turns do not alternate`);
    const blocks = list(content);
    judge.expect(blocks.length > 0, `${where}: no content`);
    const results = blocks.flatMap((block) => list([block['toolResult']])).map(({ toolUseId }) => toolUseId);
    judge.expect(results.length === open.size && results.every((id) => open.has(id)), `${where}: calls and results do not match`);
    const calls = blocks.flatMap((block) => list([block['toolUse']]));
    open = new Set(calls.map(({ toolUseId }) => toolUseId));
    usesTools ||= results.length + calls.length > 0;
    judge.expect(open.size === calls.length, `${where}: two calls share an id`);
    for (const id of open) judge.expect(/^[a-zA-Z0-9_-]{1,64}$/.test(String(id)), `${where}: the id of a call`);
    for (const block of blocks) {
      if ('text' in block) judge.expect(!blank(block['text']), `${where}: a blank text`);
      const thought = (block['reasoningContent'] as Json | undefined)?.['reasoningText'] as Json | undefined;
      if (thought) judge.expect(isOwnProof(thought['signature']), `${where}: a signature that is not this account’s`);
    }
  }
  judge.expect(open.size === 0, 'the last calls have no result');
  judge.expect(!usesTools || list((body['toolConfig'] as Json | undefined)?.['tools']).length > 0, 'calls in the history, but no toolConfig');
};

const dummyProof = /^(?:skip_thought_signature_validator|context_engineering_is_the_way_to_go)$/;

const judgeContents: Rule = (body, judge, isOwnProof) => {
  let open: unknown[] = [];
  let previous: unknown = null;
  for (const [at, { role, parts }] of list(body['contents']).entries()) {
    const where = `contents.${at}`;
    judge.expect(role === 'user' || role === 'model', `${where}: the role ${String(role)}`);
    judge.expect(list(parts).length > 0, `${where}: no parts`);
    judge.expect(at > 0 || role === 'user', 'the first content is not the user’s');
    const results = list(parts).flatMap((part) => list([part['functionResponse']]));
    if (open.length > 0) {
      judge.expect(results.length === open.length, `${where}: ${results.length} responses to ${open.length} calls`);
      judge.expect(previous === 'model', `${where}: responses do not follow their calls`);
      judge.expect(
        results.every(({ name }) => open.includes(name)),
        `${where}: a response of another function`,
      );
    } else judge.expect(results.length === 0, `${where}: responses without calls`);
    open = list(parts)
      .flatMap((part) => list([part['functionCall']]))
      .map(({ name }) => name);
    for (const part of list(parts)) {
      const proof = part['thoughtSignature'];
      if (proof !== undefined) judge.expect(isOwnProof(proof) || dummyProof.test(String(proof)), `${where}: a thought signature of another account`);
    }
    previous = role;
  }
  judge.expect(open.length === 0, 'the last calls have no response');
};

const judgeItems: Rule = (body, judge, isOwnProof) => {
  const open = new Set<unknown>();
  const items = typeof body['input'] === 'string' ? [] : list(body['input']);
  for (const [at, item] of items.entries()) {
    const where = `input.${at}`;
    if (item['type'] === 'function_call') {
      judge.expect(String(item['call_id']).length <= 64 && !open.has(item['call_id']), `${where}: the id of a call`);
      judge.expect(toolName.test(String(item['name'])), `${where}: a tool's name`);
      open.add(item['call_id']);
    } else if (item['type'] === 'function_call_output') judge.expect(open.delete(item['call_id']), `${where}: an output without its call`);
    else if (item['type'] === 'reasoning') {
      if (item['encrypted_content']) judge.expect(isOwnProof(item['encrypted_content']), `${where}: encrypted content of another account`);
      const next = items[at + 1];
      judge.expect(
        next !== undefined && (next['type'] === 'function_call' || next['role'] === 'assistant' || next['type'] === 'reasoning'),
        `${where}: reasoning without the item that followed it`,
      );
    } else judge.expect(open.size === 0 || item['role'] === 'assistant', `${where}: calls before it have no output`);
  }
  judge.expect(open.size === 0, 'the last calls have no output');
};

const judgeAssistant: Rule = (body, judge) => {
  const state = (body['conversationState'] ?? {}) as Json;
  const turns = [...list(state['history']), (state['currentMessage'] ?? {}) as Json];
  let open = new Set<unknown>();
  for (const [at, turn] of turns.entries()) {
    const where = at === turns.length - 1 ? 'currentMessage' : `history.${at}`;
    const user = turn['userInputMessage'] as Json | undefined;
    const assistant = turn['assistantResponseMessage'] as Json | undefined;
    judge.expect((at % 2 === 0 ? user : assistant) !== undefined, `${where}: turns do not alternate`);
    const results = list((user?.['userInputMessageContext'] as Json | undefined)?.['toolResults']).map(({ toolUseId }) => toolUseId);
    if (user) judge.expect(results.length === open.size && results.every((id) => open.has(id)), `${where}: calls and results do not match`);
    open = new Set(list(assistant?.['toolUses']).map(({ toolUseId }) => toolUseId));
  }
};

export const strictRules: Readonly<Record<string, Rule>> = {
  alpha: (body, judge) => judgeChat(list(body['messages']), judge, false),
  alpha_response: judgeItems,
  beta: judgeMessages,
  gamma: judgeContents,
  cloudhost_converse: judgeConverse,
  cloudhost_invoke: judgeMessages,
  delta: (body, judge) => judgeChat(list((body['input'] as Json | undefined)?.['messages']), judge, true),
  cloudhost_ide_streaming: judgeAssistant,
};

/** What the vendor would refuse; empty when it would not. Throws for a protocol without rules. */
export function findFaults(protocol: string, body: Json, isOwnProof: (proof: unknown) => boolean): string[] {
  const rule = strictRules[protocol];
  if (!rule) throw new Error(`no rules for ${protocol}`);
  const judge = new Judge();
  rule(body, judge, isOwnProof);
  return judge.faults;
}
