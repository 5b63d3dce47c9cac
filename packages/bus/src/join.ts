/** A bus inside the process joined with one between processes: what is served here is called directly, everything else goes out. */
import type { AskHandlers, Bus, Disposable, OpenServerHandlers } from './bus.ts';

/** Counts what is served here now. */
class Served {
  readonly #counts = new Map<string, number>();

  has(place: string): boolean {
    return this.#counts.has(place);
  }

  add(places: readonly string[]): () => void {
    for (const place of places) this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
    return () => {
      for (const place of places) {
        const left = (this.#counts.get(place) ?? 1) - 1;
        if (left > 0) this.#counts.set(place, left);
        else this.#counts.delete(place);
      }
    };
  }
}

const placeOf = (subject: string, name: string | undefined): string => (name === undefined ? subject : `${subject} ${name}`);
const both = (...registrations: Disposable[]): Disposable => ({ dispose: async () => void (await Promise.all(registrations.map((one) => one.dispose()))) });

/**
 * For several services in one process. What one of them serves the others reach through `inner`, also while `outer` is away; it is served on `outer` too.
 * Events go both ways, so `outer` must not bring a process its own (`echo: false`). Durable events belong to `outer` alone, and so does being connected.
 */
export function joinBuses(inner: Bus, outer: Bus): Bus {
  const served = new Served();
  const busFor = (subject: string, name?: string): Bus => (served.has(placeOf(subject, name)) ? inner : outer);
  const register = (places: readonly string[], on: (bus: Bus) => Disposable): Disposable => {
    const remove = served.add(places);
    const registrations = both(on(outer), on(inner));
    return {
      dispose() {
        remove();
        return registrations.dispose();
      },
    };
  };
  return {
    ask: (subject, request, options) => busFor(subject).ask(subject, request, options),
    open: (subject, request, handlers, options) => busFor(subject, options?.to).open(subject, request, handlers, options),
    publish(subject, event) {
      inner.publish(subject, event);
      outer.publish(subject, event);
    },
    publishDurable: outer.publishDurable.bind(outer),
    listenDurably: outer.listenDurably.bind(outer),
    serve: (handlers: { ask?: AskHandlers; open?: OpenServerHandlers }) =>
      register([...Object.keys(handlers.ask ?? {}), ...Object.keys(handlers.open ?? {})], (bus) => bus.serve(handlers)),
    serveAs: (name: string, handlers: OpenServerHandlers) =>
      register(
        Object.keys(handlers).map((subject) => placeOf(subject, name)),
        (bus) => bus.serveAs(name, handlers),
      ),
    listen: (subject, onMessage) => both(inner.listen(subject, onMessage), outer.listen(subject, onMessage)),
    get connected() {
      return outer.connected;
    },
    onConnection: outer.onConnection.bind(outer),
    stats() {
      const [here, there] = [inner.stats(), outer.stats()];
      return {
        openCalls: here.openCalls + there.openCalls,
        openServed: here.openServed + there.openServed,
        outboxItems: there.outboxItems,
        fencedFrames: here.fencedFrames + there.fencedFrames,
        refusedMessages: there.refusedMessages,
        refusedListeners: there.refusedListeners,
      };
    },
    async drain() {
      await inner.drain();
      await outer.drain();
    },
  };
}
