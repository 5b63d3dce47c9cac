/** The script after the translation: it sees the body as the upstream will, and may send it to another model that speaks the same protocol. */
import type { ScriptFault, Snapshot } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import { scriptContext } from '../../scripts/context.ts';
import { runScript, scriptOf } from '../../scripts/run-script.ts';
import { canonicalName, unknownModel } from '../script-target.ts';
import type { PrepareContext, Step } from '../step.ts';
import { printContent, type RequestContent, type RequestPatch } from '../upstream-request.ts';

const slot = 'request_transform_after';

export const scriptAfter: Step = {
  name: 'script-after',
  run(content, context) {
    // A count is of the prompt, and never fails.
    if (content.target.context.operation === 'count-tokens') return undefined;
    const script = scriptOf(context.route, slot);
    return script === undefined ? undefined : run(content, context, script);
  },
};

async function run(content: RequestContent, { request, record, body, plan, route, prepare }: PrepareContext, script: string): Promise<RequestPatch> {
  const { snapshot } = plan;
  const printed = printContent(content, body);
  const judge = ({ useModel }: { useModel: string | null }): ScriptFault | null => (useModel === null ? null : judgeTarget(useModel, route, snapshot));
  const scriptCall = { script, slot, context: scriptContext(request, route), body: printed, judge } as const;
  const result = await request.cache.lastRun.run(route, printed, () => runScript(scriptCall, { request, route }, prepare.scripts));
  if (!result) return undefined;
  const named = canonicalName(result.useModel, snapshot);
  const rerouteTo = named === route.model.name || named === plan.plan.model ? undefined : named;
  if (result.changed || rerouteTo !== undefined) record.addStep('script-after');
  return { printed: result.body, edits: [], value: undefined, ...(rerouteTo !== undefined && { rerouteTo }) };
}

/** The body is already in this protocol: a model that speaks another one could not read it. */
function judgeTarget(name: string, route: Route, { names, models, upstreams }: Snapshot): ScriptFault | null {
  const { model, balancer } = names.get(name) ?? {};
  if (!(model ?? balancer)?.enabled) return unknownModel;
  const targets = model ? [model] : (balancer?.entries ?? []).flatMap((entry) => models.get(entry.model) ?? []);
  const speaks = targets.every((target) => (target.protocol ?? upstreams.get(target.upstream)?.protocol) === route.protocol);
  return speaks ? null : { code: 'TypeError', message: 'useModel after the translation takes models of the same protocol only', line: null };
}
