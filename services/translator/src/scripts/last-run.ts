/** What the script after the translation last made: the next key of a route gets the same body, and a script runs once for it. */
import type { Route } from '@model-gateway/routing';
import type { ScriptResult } from './script-result.ts';

interface Run {
  model: Route['model'];
  upstream: Route['upstream'];
  body: Buffer;
  result: ScriptResult | null;
}

export class LastRun {
  #last: Run | undefined;

  /** Neither key nor account is in a script's context: the same body on the same model and upstream is the same run, failed ones too. Rejects as `start` does. */
  async run({ model, upstream }: Route, body: Buffer, start: () => Promise<ScriptResult | null>): Promise<ScriptResult | null> {
    const last = this.#last;
    if (last && last.model === model && last.upstream === upstream && last.body.equals(body)) return last.result;
    const result = await start();
    this.#last = { model, upstream, body, result };
    return result;
  }
}
