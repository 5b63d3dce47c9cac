/** The script after the translation: it sees the body as the upstream will, and may send it to another model that speaks the same protocol. */
import type { ScriptFault, Snapshot } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import { scriptContext } from '../../scripts/context.ts';
import { runScript, scriptOf } from '../../scripts/run-script.ts';
import { type Draft, printDraft, type Step } from '../draft.ts';
import { canonicalName, unknownModel } from './script-before.ts';

export const scriptAfter: Step = {
  name: 'script-after',
  run(draft) {
    // A count is of the prompt, and never fails.
    if (draft.context.operation === 'count-tokens') return undefined;
    const script = scriptOf(draft.route, 'request_transform_after');
    return script === undefined ? undefined : run(draft, script);
  },
};

async function run(draft: Draft, script: string): Promise<undefined> {
  const { call, route, translatorContext } = draft;
  const snapshot = await translatorContext.catalog.at(call.plan.revision);
  const body = printDraft(draft);
  const judge = ({ useModel }: { useModel: string | null }): ScriptFault | null => (useModel === null ? null : judgeTarget(useModel, route, snapshot));
  const result = await call.scripted.run(route, body, () =>
    runScript({ script, slot: 'request_transform_after', context: scriptContext(call, route), body, judge }, call, route, translatorContext),
  );
  if (!result) return undefined;
  draft.printed = result.body;
  draft.edits = [];
  draft.body = undefined;
  const rerouteTo = canonicalName(result.useModel, snapshot);
  if (rerouteTo !== route.model.name && rerouteTo !== call.plan.model) draft.rerouteTo = rerouteTo;
  if (result.changed || draft.rerouteTo !== undefined) call.did('script-after');
  return undefined;
}

/** The body is already in this protocol: a model that speaks another one could not read it. */
function judgeTarget(name: string, route: Route, { names, models, upstreams }: Snapshot): ScriptFault | null {
  const { model, balancer } = names.get(name) ?? {};
  if (!(model ?? balancer)?.enabled) return unknownModel;
  const targets = model ? [model] : (balancer?.entries ?? []).flatMap((entry) => models.get(entry.model) ?? []);
  const speaks = targets.every((target) => (target.protocol ?? upstreams.get(target.upstream)?.protocol) === route.protocol);
  return speaks ? null : { code: 'TypeError', message: 'useModel after the translation takes models of the same protocol only', line: null };
}
