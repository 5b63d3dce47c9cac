/** Keeps messages that cannot be stored as what they claim to be: bounded, without credentials, counted, and never in the way of the others. */
import { createHash } from 'node:crypto';
import { type DeadLetter, type DurableSubject, durableSubjects } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { Storage } from '@model-gateway/storage';
import type { Logger, Metrics } from '@model-gateway/telemetry';

/** A message to be stored as a dead letter. */
export interface BadItem {
  id: unknown;
  event: unknown;
  /** One short sentence, without what the item holds. */
  reason: string;
}

/** Resolves when they are kept; rejects only when the database is away. */
export type SetAside = (subject: DurableSubject, items: readonly BadItem[]) => Promise<void>;

/** What storing dead letters needs. */
export interface SetAsideDeps {
  storage: Pick<Storage, 'deadLetters'>;
  logger: Logger;
  metrics?: Metrics | undefined;
  /** Takes credentials out of a text. */
  clean(text: string): string;
  now: () => number;
}

/** Characters of a message that are looked at, and that are kept: most rows fit as a whole. */
const maxReadLength = 16_384;
const maxKeptLength = 8_000;

export function createSetAside({ storage: { deadLetters }, logger, metrics, clean, now }: SetAsideDeps): SetAside {
  const counter = metrics?.counter('gateway_dead_letters', 'Messages of the bus that could not be stored and were set aside, by subject.');
  const lost = metrics?.counter('gateway_dead_letters_lost', 'Messages that could not even be set aside: they stand in no table.');
  // Prometheus sees no increase in a series that begins with its first message.
  for (const subject of durableSubjects) counter?.add(0, { subject });
  lost?.add(0);
  return async (subject, items) => {
    if (items.length === 0) return;
    const at = now();
    const letters = items.map(({ id, event, reason }): DeadLetter => {
      const text = textOf(event);
      return {
        id: createHash('sha256').update(`${subject}\n${reason}\n${text}`).digest('base64url').slice(0, 22),
        subject,
        item_id: typeof id === 'string' ? id : '',
        reason,
        // A cut in the middle of a credential would hide what it is: it is looked for in more than is kept.
        excerpt: clean(text.slice(0, maxReadLength)).slice(0, maxKeptLength),
        bytes: Buffer.byteLength(text),
        first_at: at,
        last_at: at,
        times: 1,
      };
    });
    try {
      await deadLetters.add(letters);
    } catch (error) {
      if (isGatewayError(error) && error.code === 'service_unavailable') throw error;
      lost?.add(items.length);
      logger.error({ error, subject, items: items.length }, 'messages that cannot be stored could not be set aside and are lost');
      return;
    }
    counter?.add(items.length, { subject });
    const reasons = [...new Set(items.map(({ reason }) => reason))].slice(0, 5);
    logger.error(
      { subject, items: items.length, ids: letters.slice(0, 5).map(({ item_id }) => item_id.slice(0, 100)), reasons },
      'messages cannot be stored and were set aside',
    );
  };
}

/** As JSON, where it is: nested too deep it is not. */
function textOf(event: unknown): string {
  if (typeof event === 'string') return event;
  try {
    return JSON.stringify(event) ?? '';
  } catch (error) {
    return `(no JSON: ${String(error).slice(0, 200)})`;
  }
}
