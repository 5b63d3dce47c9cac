/** Publishes audit records of keys that ask for what they may not use. Repeats within a minute are counted into one record, so that a flood does not fill the table. */
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

const windowMs = 60_000;
/** Distinct violations tracked at once; beyond that only their number is reported. */
const maxOpen = 1_000;

interface Open {
  violation: Violation;
  /** Repeats since the published record. */
  more: number;
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
  readonly #open = new Map<string, Open>();
  #beyond = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: ViolationDeps) {
    this.#deps = deps;
  }

  note(violation: Violation): void {
    const id = `${violation.key}\n${violation.code}\n${violation.model ?? ''}`;
    const known = this.#open.get(id);
    this.#timer ??= setTimeout(() => this.close(), windowMs).unref();
    if (known) known.more++;
    else if (this.#open.size >= maxOpen) this.#beyond++;
    else {
      this.#open.set(id, { violation, more: 0 });
      this.#publish(violation, 1);
    }
  }

  /** Ends the minute: publishes what was only counted so far. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { violation, more } of this.#open.values()) if (more > 0) this.#publish(violation, more);
    if (this.#beyond > 0) this.#deps.logger.warn({ violations: this.#beyond }, 'more access violations than are recorded one by one');
    this.#open.clear();
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
    bus.publishDurable('audit.violation', row.id, row).catch((error: unknown) => logger.error({ error, record: row }, 'audit record could not be published'));
  }
}
