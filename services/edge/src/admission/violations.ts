/** Tells the audit log of keys that ask for what they may not use. The same again within a minute is counted and told once, so that a flood fills no table. */
import type { Bus } from '@model-gateway/bus';
import type { AuditRow } from '@model-gateway/contracts';
import type { ErrorCode } from '@model-gateway/contracts/errors';
import type { Logger } from '@model-gateway/telemetry';

export interface Violation {
  /** The key's hash, by which it is told from others. */
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
/** Kinds of violations followed at once; more within the minute are told of by a number alone. */
const maxOpen = 1_000;

interface Open {
  violation: Violation;
  /** Since the one that was told. */
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

  /** Ends the minute: what was only counted is told. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { violation, more } of this.#open.values()) if (more > 0) this.#publish(violation, more);
    if (this.#beyond > 0) this.#deps.logger.warn({ violations: this.#beyond }, 'keys asked for what they may not use, beyond what is told one by one');
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
    bus.publishDurable('audit.violation', row.id, row).catch((error: unknown) => logger.error({ error, record: row }, 'an audit record could not be told'));
  }
}
