/** Failed attempts in a row and the bans that follow from them, keyed by a name that the caller of this module chooses. */
export interface Attempts {
  /** Counts one more failure and returns the count; it is forgotten `keepMs` after the last one. */
  add(key: string, keepMs: number): Promise<number>;
  count(key: string): Promise<number>;
  clear(key: string): Promise<void>;
  /** Subtracts what is counted under `part` from `whole`, and forgets `part`. The rest of `whole` keeps its expiry. */
  forgive(whole: string, part: string): Promise<void>;
  ban(key: string, ms: number): Promise<void>;
  /** Milliseconds that a ban still lasts; 0: there is none. */
  bannedMs(key: string): Promise<number>;
}
