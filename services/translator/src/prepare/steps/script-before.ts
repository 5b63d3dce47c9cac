/** The script before the translation: it sees the caller's own body, and may send the request to any other model at once. */
import type { ScriptFault, Snapshot } from '@model-gateway/contracts';
import { scriptContext } from '../../scripts/context.ts';
import { runScript, scriptOf } from '../../scripts/run-script.ts';
import type { RouteChoice, RouteStep } from '../draft.ts';

export const scriptBefore: RouteStep = {
  name: 'script-before',
  choose(choice) {
    const script = scriptOf(choice.route, 'request_transform_before');
    return script === undefined ? undefined : run(choice, script);
  },
};

async function run({ call, route, snapshot, translatorContext }: RouteChoice, script: string): Promise<string | undefined> {
  const slot = 'request_transform_before';
  const judge = ({ useModel }: { useModel: string | null }): ScriptFault | null => {
    const named = useModel === null ? undefined : snapshot.names.get(useModel);
    return useModel === null || (named?.model ?? named?.balancer)?.enabled ? null : unknownModel;
  };
  const result = await runScript({ script, slot, context: scriptContext(call, route), body: call.body, judge }, call, route, translatorContext);
  if (!result) return undefined;
  if (result.changed) call.did('script-before');
  call.useBody(result.body);
  return canonicalName(result.useModel, snapshot);
}

export const unknownModel: ScriptFault = { code: 'UnknownModel', message: 'useModel names no model or load balancer that is there', line: null };

/** An alias is another word for where a request may be already; what `useModel` named was judged to be there. */
export function canonicalName(name: string | null, { names }: Snapshot): string | undefined {
  const named = name === null ? undefined : names.get(name);
  return (named?.model ?? named?.balancer)?.name;
}
