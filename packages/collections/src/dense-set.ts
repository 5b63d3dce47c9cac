/** A set of what is under way, as a plain array: members come and go with every request, and all of them can be visited. */

/** A member of at most one DenseSet at a time. */
export interface DenseMember {
  /** Owned by the set: the member's index in it, -1 while in none. */
  index: number;
}

/**
 * A set whose members know their index, so that adding and removing write into one array.
 *
 * Not a `Set`: V8 allocates a new table for a `Set` (or `Map`) every few dozen additions and deletions, and the old table points to the new one and
 * to its contents. Once such a table has been promoted to the old generation, everything the set ever holds afterwards is promoted too: measured,
 * every scavenge copied all requests since the last one, at four times its cost.
 */
export class DenseSet<T extends DenseMember> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    if (member.index < 0) member.index = this.#members.push(member) - 1;
  }

  /** Does nothing when it is not in the set. */
  remove(member: T): void {
    const { index } = member;
    if (index < 0) return;
    const last = this.#members.pop()!;
    if (last !== member) {
      this.#members[index] = last;
      last.index = index;
    }
    member.index = -1;
  }

  /** Visits every member. A visit may remove its own member or others; then one may be visited twice. Those added meanwhile are not visited. */
  forEach(visit: (member: T) => void): void {
    for (let at = this.#members.length - 1; at >= 0; at--) {
      const member = this.#members[at];
      if (member) visit(member);
    }
  }
}
