/** What the first process and a worker tell one another over the channel between parent and child. */

/** From the worker. */
export type FromWorker =
  /** It serves, and takes connections. */
  | { type: 'ready' }
  /** It has the connection of this number; so many are open in it. */
  | { type: 'taken'; id: number; open: number }
  /** It takes no connection any more: this one has to go elsewhere. */
  | { type: 'refused'; id: number }
  | { type: 'open'; open: number }
  | { type: 'metrics'; id: number; text: string };

/** From the first process. A connection comes with its handle. */
export type ToWorker = { type: 'connection'; id: number } | { type: 'metrics'; id: number };

export const isMessage = (message: unknown): message is { type: string } =>
  typeof message === 'object' && message !== null && typeof (message as { type?: unknown }).type === 'string';
