/** Reads messages that others sent: what does not have its subject's shape is refused here, counted, and logged without its content. */
import type { Shape } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { BusLogger } from './logger.ts';
import { fitsSurely } from './shape-check.ts';

/** Of one kind of message; in between they are only counted, since one faulty sender may send a million of them. */
const logEveryMs = 10_000;

interface Reported {
  at: number;
  since: number;
}

/** Parses and checks messages, and counts what it refuses. */
export class MessageReader {
  /** Messages refused so far. */
  refused = 0;
  private readonly logger: BusLogger;
  private readonly reported = new Map<string, Reported>();

  constructor(logger: BusLogger) {
    this.logger = logger;
  }

  /** What `parse` gives, if it has the shape. Throws `internal`: the sender is foreign, or of an unknown version. */
  read(what: string, shape: Shape | undefined, parse: () => unknown): unknown {
    try {
      const value = parse();
      checkShape(what, shape, value);
      return value;
    } catch (cause) {
      this.refuse(what, cause);
      throw new GatewayError('internal', { cause });
    }
  }

  /** The same for events, which have no caller to reject: undefined when refused. */
  readOrDrop(what: string, shape: Shape | undefined, parse: () => unknown): unknown {
    try {
      return this.read(what, shape, parse);
    } catch {
      return undefined;
    }
  }

  private refuse(what: string, error: unknown): void {
    this.refused++;
    const reported = this.reported.get(what);
    const now = performance.now();
    if (reported && now - reported.at < logEveryMs) {
      reported.since++;
      return;
    }
    this.logger.warn(
      { message: what, why: error instanceof Error ? error.message : '', times: (reported?.since ?? 0) + 1 },
      'a bus message was refused: it has not the shape of its subject',
    );
    this.reported.set(what, { at: now, since: 0 });
  }
}

/** Throws where the value has another shape. The message names the path, and nothing of the value: it may hold anything. */
export function checkShape(what: string, shape: Shape | undefined, value: unknown): void {
  if (!shape || fitsSurely(shape, value)) return;
  const result = shape.safeParse(value);
  if (result.success) return;
  const issue = result.error.issues[0];
  throw new TypeError(
    `${what}: ${issue?.code ?? 'invalid'} at ${
      issue?.path
        .slice(0, 8)
        .map((part) => String(part).slice(0, 40))
        .join('.') || 'the top'
    }`,
  );
}
