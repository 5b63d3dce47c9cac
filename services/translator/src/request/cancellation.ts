/** When a request has to stop: its caller left, its deadline passed, its edge died, or this process shuts down. */
import { codeOfCancel, GatewayError } from '@model-gateway/contracts/errors';

export class Cancellation {
  #reason: string | null = null;
  #interruption: GatewayError | null = null;
  #callback: (() => void) | undefined;
  #controller: AbortController | undefined;

  /** Why the edge cancelled; null while it has not. */
  get reason(): string | null {
    return this.#reason;
  }

  /** The caller's error when this process shuts down before the reply is complete. */
  get interruption(): GatewayError | null {
    return this.#interruption;
  }

  get isOver(): boolean {
    return this.#reason !== null || this.#interruption !== null;
  }

  /** The edge cancelled: nobody takes the reply any more. */
  cancel(reason: string): void {
    this.#reason = reason;
    this.#notify();
  }

  /** This process shuts down: the request ends now, with this error for its caller. */
  interrupt(error: GatewayError): void {
    this.#interruption ??= error;
    this.#notify();
  }

  /** Replaces the callback before it. It runs at most twice: when the edge cancels, and when this process shuts down; at once if that has happened. */
  onCancel(callback: () => void): void {
    this.#callback = callback;
    if (this.isOver) callback();
  }

  /** Aborted together with the request. */
  signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  /** No attempt for a caller who left, nor in a process that shuts down. */
  throwIfOver(): void {
    if (this.isOver) throw this.error;
  }

  /** Why it is over; a stored turn keeps it as the reason of its failure. */
  get error(): GatewayError {
    if (this.#reason === null) return this.#interruption ?? new GatewayError('client_gone');
    const code = codeOfCancel(this.#reason);
    // A defect of the opener is in the opener's log.
    return new GatewayError(code === 'internal' ? 'service_lost' : code);
  }

  #notify(): void {
    this.#controller?.abort();
    this.#callback?.();
  }
}
