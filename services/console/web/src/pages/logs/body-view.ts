/** Stored bodies as a person reads them: JSON indented, streams by event. */
import { createParser } from 'eventsource-parser';

/** Indented when it is JSON, else as it is. */
export function printBody(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export const isEventStream = (text: string): boolean => /^(?:\uFEFF)?(?:data|event|id|retry)?:/.test(text);

/** The last one may have been cut off: what is there of it is shown too. */
export function readEvents(text: string): { event: string | undefined; data: string }[] {
  const events: { event: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event, data }) });
  parser.feed(`${text}\n\n`);
  return events;
}

/** Nothing was cut off, and nothing taken out: sent again, it is what the caller sent. */
export const isComplete = ({ text, truncated }: { text: string; truncated: boolean }): boolean =>
  !truncated && !text.includes('[redacted]') && !/\[base64: \d+ characters\]/.test(text);
