/** The script before the translation: it sees the caller's own body, and may send the request to any other model at once. */
import type { ScriptFault } from '@model-gateway/contracts';
import { scriptContext } from '../../scripts/context.ts';
import { runScript, scriptOf } from '../../scripts/run-script.ts';
import { canonicalName, unknownModel } from '../script-target.ts';
import type { PrepareContext, RouteChoice, RouteStep } from '../step.ts';

export const scriptBefore: RouteStep = {
  name: 'script-before',
  choose(context) {
    const script = scriptOf(context.route, 'request_transform_before');
    return script === undefined ? undefined : run(context, script);
  },
};

async function run({ request, record, body, plan: { snapshot }, route, prepare }: PrepareContext, script: string): Promise<RouteChoice | undefined> {
  const slot = 'request_transform_before';
  const judge = ({ useModel }: { useModel: string | null }): ScriptFault | null => {
    const named = useModel === null ? undefined : snapshot.names.get(useModel);
    return useModel === null || (named?.model ?? named?.balancer)?.enabled ? null : unknownModel;
  };
  const scriptCall = { script, slot, context: scriptContext(request, route), body: body.bytes, judge } as const;
  const result = await runScript(scriptCall, { request, route }, prepare.scripts);
  if (!result) return undefined;
  if (result.changed) record.addStep('script-before');
  const changed = body.withBody(result.body);
  record.useBody(changed);
  return { body: changed, rerouteTo: canonicalName(result.useModel, snapshot) };
}
