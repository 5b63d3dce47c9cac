/** The last model of each session, for clients that name it once. Only a default: access is still checked against the key group. */
import { LRUCache } from 'lru-cache';

const maxSessions = 10_000;

export class SessionModels {
  readonly #models = new LRUCache<string, string>({ max: maxSessions });

  get(keyHash: string, session: string): string | undefined {
    return this.#models.get(`${keyHash} ${session}`);
  }

  set(keyHash: string, session: string, model: string): void {
    this.#models.set(`${keyHash} ${session}`, model);
  }
}
