/**
 * What an attempt says about the health of its target. `line`: the address cannot be reached · `hang`: it accepts the request and does not answer ·
 * `node`: it answers that it cannot serve this model now · `key`: it refuses the credential or account · `none`: it works.
 */
export type HealthSign = 'none' | 'line' | 'hang' | 'node' | 'key';

/** Outcomes of attempts at one target, as the translator publishes them to the routers. */
export interface Outcome {
  model: string;
  upstream: string;
  /** Stable id of the key entry; '' when the upstream has none. */
  key: string;
  sign: HealthSign;
  /** Successful attempts since the last published outcome of this target. */
  ok: number;
  /** Milliseconds to the first content of the last attempt that went well. */
  latencyMs?: number;
  /** The upstream asked not to be called for this long (`Retry-After`). */
  waitMs?: number;
  /** The attempt was the half-open breaker's probe. */
  probe?: true;
}
