/** One run of a script that an admin tries: as the gateway would run it, over a body that he gives. */
import type { ScriptContext, ScriptOutcome, ScriptSlot } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { replaceRanges } from '@model-gateway/json-bytes';
import type { ConsoleContext } from '../context.ts';

/** A script to be tried on a body. */
export interface ScriptTest {
  script: string;
  body: unknown;
  slot: ScriptSlot;
  context: ScriptContext;
}

/** The outcome of a tried script, and the body it made. */
export interface ScriptTestResult {
  outcome: ScriptOutcome;
  /** The body as the script leaves it; undefined when it failed. */
  body: unknown;
}

const deadlineMs = 60_000;

/** Rejects with a GatewayError when no runner is there. */
export function testScript({ script, body, slot, context }: ScriptTest, consoleContext: ConsoleContext): Promise<ScriptTestResult> {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  return new Promise((resolve, reject) => {
    let head: ScriptOutcome | undefined;
    const parts: Uint8Array[] = [];
    const stream = consoleContext.bus.open(
      'script.run',
      { script, slot, context, owner: 'console' },
      {
        head(outcome) {
          head = outcome;
        },
        data(piece) {
          parts.push(piece);
          stream.consumed(piece.byteLength);
        },
        tail() {
          stream.acknowledge();
          if (!head) return;
          const outcome = head;
          resolve({ outcome, body: outcome.fault ? undefined : parse(replaceRanges(bytes, outcome.places, Buffer.concat(parts))) });
        },
        broken: (error: GatewayError) => reject(error),
      },
      { body: bytes, deadlineMs },
    );
  });
}

const parse = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString('utf8'));
