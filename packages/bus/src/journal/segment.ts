/** One file of the outbox: lines are gathered and written together, and the file is removed when all its events are acknowledged. */
import { type FileHandle, open, readFile, unlink } from 'node:fs/promises';

/** A file of events, appended to in batches that are synced. */
export class Segment {
  readonly file: string;
  /** Ids of events that are not acknowledged yet. */
  readonly open: Set<string>;
  /** Of these: not being published now. */
  readonly parked = new Set<string>();
  bytes = 0;
  /** Nothing more is added. */
  closed = false;
  /** Lines by the ids of their events; what the disk refused stays here. */
  #waiting = new Map<string, string>();
  #handle: Promise<FileHandle> | undefined;
  #writing: Promise<void> | undefined;
  /** The disk was full in the middle of a line: the next one begins anew. */
  #torn = false;

  /** `parked`: what a file of an earlier process holds. */
  constructor(file: string, parked: Iterable<string> = []) {
    this.file = file;
    this.parked = new Set(parked);
    this.open = new Set(this.parked);
  }

  add(id: string, line: string): void {
    this.open.add(id);
    this.#waiting.set(id, line);
    this.bytes += line.length;
  }

  /** The event was acknowledged. */
  done(id: string): void {
    this.open.delete(id);
    this.#waiting.delete(id);
  }

  get dirty(): boolean {
    return this.#waiting.size > 0;
  }

  /** How many events are not on the disk. */
  get unwritten(): number {
    return this.#waiting.size;
  }

  /** Resolves when what was added before is on the disk. */
  async flush(): Promise<void> {
    await this.#writing;
    if (!this.dirty) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #write(): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = new Map();
    try {
      await this.#append([...lines.values()].join(''));
    } catch (error) {
      // To be written when the disk takes it, unless it is acknowledged meanwhile. A line that is there twice is one event.
      this.#waiting = new Map([...lines, ...this.#waiting].filter(([id]) => this.open.has(id)));
      throw error;
    }
  }

  async #append(text: string): Promise<void> {
    this.#handle ??= open(this.file, 'a', 0o600).catch((error: unknown) => {
      this.#handle = undefined;
      throw error;
    });
    const handle = await this.#handle;
    try {
      await handle.appendFile(this.#torn ? `\n${text}` : text, 'utf8');
      this.#torn = false;
    } catch (error) {
      this.#torn = true;
      throw error;
    }
    await handle.datasync();
  }

  /** The lines whose ids are parked, as they were added. What a dying process left half written is passed over. */
  async readParked(): Promise<{ subject: string; id: string; event: unknown }[]> {
    await this.flush();
    return readLines(await readFile(this.file, 'utf8')).filter(({ id }) => this.parked.has(id));
  }

  /** `remove`: all its events are acknowledged. What could not be written before is lost. */
  async close(remove: boolean): Promise<void> {
    this.closed = true;
    await this.#writing?.catch(() => undefined);
    await (await this.#handle)?.close();
    this.#handle = undefined;
    if (remove)
      await unlink(this.file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
  }
}

/** The events of a file; lines that cannot be read are left out. */
export function readLines(text: string): { subject: string; id: string; event: unknown }[] {
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      const [subject, id, event] = JSON.parse(line) as [string, string, unknown];
      return typeof subject === 'string' && typeof id === 'string' ? [{ subject, id, event }] : [];
    } catch {
      // The last line of a process that was killed while it wrote.
      return [];
    }
  });
}
