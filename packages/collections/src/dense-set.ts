/** What is under way right now, in a plain array: it comes and goes with every request, and all of it can be visited. */

/** What can stand on a roster, one at a time. */
export interface DenseMember {
  /** The roster's own: the place on it, -1 while on none. */
  index: number;
}

/**
 * A set whose members know their place, so that adding and removing write into one array.
 *
 * Not a `Set`: V8 gives a `Set` (or `Map`) that is added to and deleted from a new table every few dozen operations, and the old table points
 * to the new one and to what it held. Once one of them was promoted to the old generation, everything that ever stood in the set is promoted
 * after it: measured, every scavenge copied all requests since the last one, at four times its price.
 */
export class DenseSet<T extends DenseMember> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    if (member.index < 0) member.index = this.#members.push(member) - 1;
  }

  /** Nothing happens when it is not on the roster. */
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
