/**
 * Publishes an audit record for each request of a key that asks for what it may not use; folding of equal ones is the reader's. While the bus takes
 * records more slowly than they come, repeats are counted into one record, so that a flood fills no memory and none is lost.
 */
import type { Bus } from '@model-gateway/bus';
import type { AuditRow } from '@model-gateway/contracts';
import type { ErrorCode } from '@model-gateway/contracts/errors';
import type { Logger } from '@model-gateway/telemetry';

/** A request that its key does not permit. */
export interface Violation {
  /** The key's hash, which distinguishes it from others. */
  key: string;
  /** First and last characters of the key, as it was sent. */
  mask: string;
  keyName: string;
  group: string;
  code: ErrorCode;
  /** null: refused for its headers. */
  model: string | null;
  clientIp: string | null;
  requestId: string | null;
}

const audited: ReadonlySet<ErrorCode> = new Set(['model_not_granted', 'header_denied']);
export const isViolation = (code: ErrorCode): boolean => audited.has(code);

/** Records on their way at once; what comes then is counted by key, code and model. */
const maxPending = 1_000;
/** Distinct violations that wait; beyond that only their number is reported. */
const maxWaiting = 10_000;

interface Waiting {
  violation: Violation;
  count: number;
}

export interface ViolationDeps {
  bus: Bus;
  logger: Logger;
  mintId: (prefix: string) => string;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export class Violations {
  readonly #deps: ViolationDeps;
  readonly #waiting = new Map<string, Waiting>();
  #pending = 0;
  #beyond = 0;

  constructor(deps: ViolationDeps) {
    this.#deps = deps;
  }

  note(violation: Violation): void {
    if (this.#pending < maxPending && this.#waiting.size === 0) return this.#publish(violation, 1);
    const id = `${violation.key}\n${violation.code}\n${violation.model ?? ''}`;
    const known = this.#waiting.get(id);
    if (known) known.count++;
    else if (this.#waiting.size >= maxWaiting) this.#beyond++;
    else this.#waiting.set(id, { violation, count: 1 });
  }

  /** Publishes what waits, whatever is still on its way: the process ends. */
  close(): void {
    this.#publishWaiting(Number.POSITIVE_INFINITY);
  }

  #publishWaiting(max: number): void {
    for (const [id, { violation, count }] of this.#waiting) {
      if (this.#pending >= max) return;
      this.#waiting.delete(id);
      this.#publish(violation, count);
    }
    if (this.#beyond > 0) this.#deps.logger.warn({ violations: this.#beyond }, 'more access violations than are recorded one by one');
    this.#beyond = 0;
  }

  #publish({ mask, keyName, group, code, model, clientIp, requestId }: Violation, count: number): void {
    const { bus, logger, mintId, now = Date.now } = this.#deps;
    const row: AuditRow = {
      id: mintId('aud_'),
      occurred_at: now(),
      actor: `api_key:${mask}`,
      action: 'acl.violation',
      entity_type: model === null ? 'key_group' : 'model',
      entity_id: model ?? group,
      diff: { access_key: keyName, key_group: group, reason: code, count },
      ip_address: clientIp,
      request_id: requestId,
    };
    this.#pending++;
    void bus
      .publishDurable('audit.violation', row.id, row)
      .catch((error: unknown) => logger.error({ error, record: row }, 'audit record could not be published'))
      .finally(() => {
        this.#pending--;
        if (this.#waiting.size > 0) this.#publishWaiting(maxPending);
      });
  }
}
