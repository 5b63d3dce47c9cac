/** Tools that messages or a compaction add or take away (`tool_addition`, `tool_removal`): other protocols have one list for the whole request, the one that holds in the end. */
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, type JsonObject, own } from '../../kit/read.ts';

const isChange = (block: unknown): boolean => own(block, 'type') === 'tool_addition' || own(block, 'type') === 'tool_removal';

/** The tools that are offered after the last message, and the messages without what changed them. The very same values where nothing does. */
export function foldToolChanges(tools: unknown, messages: readonly JsonObject[], losses: Losses): { tools: unknown; messages: readonly JsonObject[] } {
  const changes = changesIn(messages);
  if (changes.length === 0) return { tools, messages };
  losses.add('messages.tool_changes', 'emulated', 'the tools that hold after the last message are offered from the beginning');
  const list = asArray(tools) ?? [];
  const known = new Map<string, unknown>(list.map((tool, place) => [asString(own(tool, 'name')) ?? `#${place}`, tool]));
  const removed = new Set<string>();
  for (const change of changes) {
    const tool = own(change, 'tool');
    const definition = own(tool, 'type') === 'tool_definition' ? own(tool, 'definition') : undefined;
    const name = asString(own(definition ?? tool, 'name'));
    if (name === undefined || (definition === undefined && own(tool, 'type') !== 'tool_reference')) {
      losses.dropped('messages.tool_changes', 'tools of servers that its vendor calls');
      continue;
    }
    if (definition !== undefined) known.set(name, definition);
    if (own(change, 'type') === 'tool_removal') removed.add(name);
    else removed.delete(name);
  }
  return {
    tools: [...known].flatMap(([name, tool]) => (removed.has(name) ? [] : [tool])),
    messages: messages.flatMap((message) => withoutChanges(message)),
  };
}

/** Those that hold in the end. A compaction lists the sum of the changes before it: messages that made them need not be sent again. */
function changesIn(messages: readonly JsonObject[]): unknown[] {
  let changes: unknown[] = [];
  for (const message of messages) {
    for (const block of asArray(own(message, 'content')) ?? []) {
      // One without a summary failed, and changes nothing.
      const compacted = own(block, 'type') === 'compaction' && asString(own(block, 'content')) ? asArray(own(block, 'tool_changes')) : undefined;
      if (compacted) changes = compacted.filter(isChange);
      else if (isChange(block)) changes.push(block);
    }
  }
  return changes;
}

function withoutChanges(message: JsonObject): JsonObject[] {
  const content = asArray(own(message, 'content'));
  if (!content?.some(isChange)) return [message];
  const kept = content.filter((block) => !isChange(block));
  return kept.length === 0 ? [] : [{ ...message, content: kept }];
}
