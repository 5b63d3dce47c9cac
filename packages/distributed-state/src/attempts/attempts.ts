/** Failed attempts in a row and what follows from them: counters and bans by a name of the caller's own making. */
export interface Attempts {
  /** Counts one more and gives how many there are now; they are forgotten `keepMs` after the last. */
  add(key: string, keepMs: number): Promise<number>;
  count(key: string): Promise<number>;
  clear(key: string): Promise<void>;
  /** Takes what is counted under `part` off `whole`, and forgets `part`. The rest of `whole` stays, and as long as before. */
  forgive(whole: string, part: string): Promise<void>;
  ban(key: string, ms: number): Promise<void>;
  /** Milliseconds that a ban goes on; 0: there is none. */
  bannedMs(key: string): Promise<number>;
}
