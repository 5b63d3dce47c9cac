/** One request to the script runner: it carries the body once, and the reply holds only the changes. */
import type { ScriptOutcome, ScriptRun } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { ScriptDeps } from './deps.ts';

/** The runner keeps its own times, which are shorter. */
const deadlineMs = 60_000;

/** The script runner's reply: the outcome, and the bytes of the replacements. */
export interface RunnerAnswer {
  outcome: ScriptOutcome;
  texts: Uint8Array;
}

/** Rejects with a GatewayError when there is no runner, or it was lost. */
export function askRunner(run: ScriptRun, body: Uint8Array, { bus }: Pick<ScriptDeps, 'bus'>): Promise<RunnerAnswer> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let head: ScriptOutcome | undefined;
    const call = bus.open(
      'script.run',
      run,
      {
        head(outcome) {
          head = outcome;
        },
        data(bytes) {
          parts.push(bytes);
          call.consumed(bytes.byteLength);
        },
        tail() {
          call.acknowledge();
          if (head) resolve({ outcome: head, texts: Buffer.concat(parts) });
        },
        whole(outcome, texts) {
          call.acknowledge();
          resolve({ outcome, texts });
        },
        broken: (error: GatewayError) => reject(error),
      },
      { body, deadlineMs },
    );
  });
}
