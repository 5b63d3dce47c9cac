/** Vendors with a closed schema answer a field that they do not know with an error: what of a body they would refuse, and what goes in its place. */
import type { Edit } from '@model-gateway/json-bytes';
import type { ClosedFields } from '@model-gateway/model-catalog';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, own } from '../../kit/read.ts';

type Path = Edit['path'];

/** Fields that are corrected by name elsewhere (`normalize.ts`), or request what this vendor does by default. */
const notLost: ReadonlySet<string> = new Set(['max_completion_tokens', 'seed', 'stream_options', 'type', 'index']);
const renamedElsewhere: ReadonlySet<string> = new Set(['max_completion_tokens', 'seed']);

/** Edits that take out all that the schema does not have. */
export function closedEdits(body: unknown, closed: ClosedFields, losses: Pick<Losses, 'add'>): Edit[] {
  const edits: Edit[] = [];
  const close = (holder: unknown, known: readonly string[] | undefined, path: Path, named: string): void => {
    for (const [key, value] of Object.entries(asObject(holder) ?? {})) {
      if (!known || known.includes(key) || (path.length === 0 && renamedElsewhere.has(key))) continue;
      edits.push({ path: [...path, key], value: undefined });
      const says = value !== null && !(Array.isArray(value) && value.length === 0) && !notLost.has(key);
      if (says) losses.add(named === '' ? key : `${named}.${key}`, 'dropped', 'This vendor refuses fields that its schema does not have.');
    }
  };
  close(body, closed.request, [], '');
  (asArray(own(body, 'messages')) ?? []).forEach((message, at) => {
    const role = own(message, 'role');
    close(message, typeof role === 'string' && Object.hasOwn(closed.messages, role) ? closed.messages[role] : undefined, ['messages', at], 'messages');
    (asArray(own(message, 'tool_calls')) ?? []).forEach((call, index) => {
      close(call, closed.call, ['messages', at, 'tool_calls', index], 'messages.tool_calls');
    });
  });
  (asArray(own(body, 'tools')) ?? []).forEach((tool, at) => {
    close(own(tool, 'function'), closed.function, ['tools', at, 'function'], 'tools.function');
  });
  return edits;
}

/**
 * What such a vendor refuses of the order of messages: an answer without content, system text after one, two calls of one message under one id. `fit`:
 * how it takes ids.
 */
export function orderEdits(messages: readonly unknown[], fit: (id: string) => string, losses: Pick<Losses, 'add'>): Edit[] {
  const edits: Edit[] = [];
  const repeated = new Map<unknown, string[]>();
  let before: unknown;
  messages.forEach((message, at) => {
    const role = own(message, 'role');
    const path: Path = ['messages', at];
    const calls = asArray(own(message, 'tool_calls')) ?? [];
    if (role === 'assistant') {
      repeated.clear();
      edits.push(...separateCalls(calls, path, repeated, fit, losses));
      const empty = isBlank(own(message, 'content')) && calls.length === 0;
      const refusal = own(message, 'refusal');
      if (empty && typeof refusal === 'string') {
        losses.add('messages.refusal', 'renamed', 'Sent as text.');
        edits.push({ path: [...path, 'content'], value: refusal, add: true });
      } else if (empty) {
        edits.push({ path, value: undefined });
        return;
      }
    } else if ((role === 'system' || role === 'developer') && (before === 'assistant' || before === 'tool')) {
      losses.add('messages.system', 'emulated', 'System text between turns was said by the user.');
      edits.push({ path: [...path, 'role'], value: 'user' });
    } else if (role === 'tool') {
      const waiting = repeated.get(own(message, 'tool_call_id'));
      const id = waiting?.shift();
      if (id !== undefined && id !== '') edits.push({ path: [...path, 'tool_call_id'], value: id });
    }
    before = role;
  });
  return edits;
}

const isBlank = (content: unknown): boolean => (typeof content === 'string' ? content.trim() === '' : !asArray(content)?.length);

/** New ids for calls whose id an earlier one of the message has; `repeated` gets the ids of such calls in order, '' for one that keeps its own. */
function separateCalls(
  calls: readonly unknown[],
  path: Path,
  repeated: Map<unknown, string[]>,
  fit: (id: string) => string,
  losses: Pick<Losses, 'add'>,
): Edit[] {
  const edits: Edit[] = [];
  calls.forEach((call, index) => {
    const id = own(call, 'id');
    if (typeof id !== 'string') return;
    const known = repeated.get(id);
    if (!known) {
      repeated.set(id, ['']);
      return;
    }
    const own_ = fit(`${id} ${known.length + 1}`);
    known.push(own_);
    losses.add('tool_calls.id', 'renamed', 'Two calls of one turn shared an id: the later one got its own, and the results are theirs in order.');
    edits.push({ path: [...path, 'tool_calls', index, 'id'], value: own_ });
  });
  return edits;
}

/** The same for a body that is being written: it is ours, and is changed in place. */
export function closeBody(body: unknown, closed: ClosedFields, losses: Pick<Losses, 'add'>): void {
  for (const { path } of closedEdits(body, closed, losses)) {
    const holder = path.slice(0, -1).reduce<unknown>((value, step) => (value as Record<string | number, unknown>)[step], body);
    delete (holder as Record<string | number, unknown>)[path.at(-1) as string];
  }
}
