/** Gives the model's calls the names that the caller has for its tools, where they were sent under others. */
import type { ChatEvent } from '@model-gateway/protocols';

/** The same events when nothing was renamed. */
export function withCallersNames(events: ChatEvent[], names: ReadonlyMap<string, string> | undefined): ChatEvent[] {
  return names === undefined ? events : events.map((event) => renamed(event, names));
}

function renamed(event: ChatEvent, names: ReadonlyMap<string, string>): ChatEvent {
  if (event.type !== 'block-start' || event.block.type !== 'tool-call') return event;
  const name = names.get(event.block.name);
  return name === undefined ? event : { ...event, block: { ...event.block, name } };
}
