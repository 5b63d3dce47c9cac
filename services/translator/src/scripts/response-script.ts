/** The script over a whole reply of the upstream, before anything is read of it. */
import type { Call } from '../call.ts';
import type { Prepared } from '../prepare.ts';
import type { Room } from '../room.ts';
import { responseContext, type UpstreamAnswer } from './context.ts';
import { runScript, scriptOf } from './run-script.ts';

/** The reply's bytes as the script leaves them; undefined: there is none, or the caller gets a stream, on which none runs. Rejects as `runScript` does. */
export function runResponseScript(call: Call, { route }: Prepared, body: Buffer, answer: UpstreamAnswer, room: Room): Promise<Buffer> | undefined {
  const slot = 'response_transform';
  const script = call.job.stream ? undefined : scriptOf(route, slot);
  if (script === undefined) return undefined;
  return runScript({ script, slot, context: responseContext(call, route, answer), body }, call, route, room).then((result) => {
    if (result && result.body !== body) call.did('script-response');
    return result?.body ?? body;
  });
}
