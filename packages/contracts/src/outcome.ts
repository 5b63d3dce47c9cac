/**
 * What an attempt tells of the place it went to. `line`: the address cannot be reached · `hang`: it takes the request and does not answer ·
 * `node`: it answers that it cannot serve this model now · `key`: it refuses the credential or account · `none`: it works.
 */
export type HealthSign = 'none' | 'line' | 'hang' | 'node' | 'key';

/** How attempts at one place went, as the translator tells the routers. */
export interface Outcome {
  model: string;
  upstream: string;
  /** Stable id of the key entry; '' when the upstream has none. */
  key: string;
  sign: HealthSign;
  /** Attempts that went well since the last outcome of this place was told. */
  ok: number;
  /** Milliseconds to the first content of the last attempt that went well. */
  latencyMs?: number;
  /** The upstream asked to be left alone for this long. */
  waitMs?: number;
  /** The attempt was the one that finds out whether the place works again. */
  probe?: true;
}
