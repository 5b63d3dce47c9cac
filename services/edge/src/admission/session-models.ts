/** The last model of each session, for clients that name it once. Only a default: access is still checked against the key group. */

const maxSessions = 10_000;

export class SessionModels {
  /** In the order of last use. */
  readonly #models = new Map<string, string>();

  get(keyHash: string, session: string): string | undefined {
    return this.#models.get(`${keyHash} ${session}`);
  }

  set(keyHash: string, session: string, model: string): void {
    const id = `${keyHash} ${session}`;
    this.#models.delete(id);
    this.#models.set(id, model);
    if (this.#models.size <= maxSessions) return;
    const oldest = this.#models.keys().next();
    if (!oldest.done) this.#models.delete(oldest.value);
  }
}
