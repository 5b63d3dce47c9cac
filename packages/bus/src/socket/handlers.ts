/** What a process serves, by place: a subject, or a subject under a process's name. */
import type { AskHandlers, Disposable, OpenServerHandlers } from '../bus.ts';
import { InFlight } from '../kit/in-flight.ts';

type Handler = (...args: never[]) => unknown;

/** A handler, and the work of its registration. */
export interface Served {
  readonly handler: Handler;
  readonly inFlight: InFlight;
}

/** A subject that is opened at one process only. */
export const placeOf = (subject: string, name?: string): string => (name === undefined ? subject : `${subject} ${name}`);

/** Handlers take turns with others of their place. */
export class Handlers {
  private readonly byPlace = new Map<string, Served[]>();
  private turn = 0;
  private readonly changed: () => void;

  constructor(changed: () => void) {
    this.changed = changed;
  }

  get places(): string[] {
    return [...this.byPlace.keys()];
  }

  has(place: string): boolean {
    return this.byPlace.has(place);
  }

  pick(place: string): Served | undefined {
    const all = this.byPlace.get(place);
    return all?.[this.turn++ % all.length];
  }

  add(handlers: { ask?: AskHandlers; open?: OpenServerHandlers }, name?: string): Disposable {
    const inFlight = new InFlight();
    const entries = [...Object.entries(handlers.ask ?? {}), ...Object.entries(handlers.open ?? {})].map(
      ([subject, handler]) => [placeOf(subject, name), { handler: handler as Handler, inFlight }] as const,
    );
    for (const [place, served] of entries) this.byPlace.set(place, [...(this.byPlace.get(place) ?? []), served]);
    this.changed();
    return {
      dispose: () => {
        for (const [place, served] of entries) {
          const left = (this.byPlace.get(place) ?? []).filter((other) => other !== served);
          if (left.length > 0) this.byPlace.set(place, left);
          else this.byPlace.delete(place);
        }
        this.changed();
        return inFlight.ended();
      },
    };
  }
}
