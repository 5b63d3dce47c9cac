/** What a caller sends before it has named its model: held until then, for a while, and within a bound. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { FirstFrame } from '@model-gateway/protocols';

export interface HeldFrame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

const maxBytes = 1024 * 1024;
const maxWaitMs = 15_000;

export class FirstFrames {
  readonly #rule: FirstFrame;
  readonly #jsonInBinary: boolean;
  readonly #late: NodeJS.Timeout;
  readonly #named: { resolve(model: string): void; reject(error: GatewayError): void };
  readonly #frames: HeldFrame[] = [];
  #size = 0;
  /** Rejects where it does not come, or is not named where it should be. */
  readonly model: Promise<string>;

  /** `jsonInBinary`: of the protocol's frames. */
  constructor(rule: FirstFrame, jsonInBinary = false) {
    this.#rule = rule;
    this.#jsonInBinary = jsonInBinary;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.model = promise;
    this.#named = { resolve, reject };
    // Nobody may be waiting when the caller leaves.
    promise.catch(() => {});
    this.#late = setTimeout(() => this.fail(this.#refusal()), maxWaitMs).unref();
  }

  /** false: there is no room for it. */
  hold(data: Buffer, isBinary: boolean): boolean {
    this.#size += data.length;
    if (this.#size > maxBytes) return false;
    this.#frames.push({ data, isBinary });
    const isUnread = isBinary && !this.#jsonInBinary;
    const model = isUnread ? (this.#rule.opens ? '' : null) : this.#rule.readModel(data);
    if (model === '') this.fail(this.#refusal());
    else if (model !== null) {
      clearTimeout(this.#late);
      this.#named.resolve(model);
    }
    return true;
  }

  fail(error: GatewayError): void {
    clearTimeout(this.#late);
    this.#named.reject(error);
  }

  take(): HeldFrame[] {
    return this.#frames.splice(0);
  }

  #refusal(): GatewayError {
    return new GatewayError('invalid_request', { message: this.#rule.missing, param: 'model' });
  }
}
