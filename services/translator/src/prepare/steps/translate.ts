/** The caller's request in the upstream's protocol: named edits of its bytes when both speak the same one, a new body otherwise. */
import { bridgeTools, fitToModel, plainToolRules, repairCalls } from '@model-gateway/protocols';
import { readRequest } from '../../request/current.ts';
import type { PrepareContext, Step } from '../step.ts';
import type { RequestContent, RequestPatch } from '../upstream-request.ts';

export const translate: Step = {
  name: 'translate',
  run(content, current) {
    const { verbatim, context } = content.target;
    if (!verbatim) return write(content, current);
    const { edits, losses } = verbatim.requestEdits(context);
    current.record.lose(losses);
    return { edits };
  },
};

function write({ target: { adapter, context }, conversation: changed }: RequestContent, current: PrepareContext): RequestPatch {
  const { record } = current;
  record.addStep('translate');
  const asked = changed ?? readRequest(current).conversation;
  const fitted = fitToModel(asked, context.target, adapter);
  if (fitted) record.lose(fitted.losses);
  const repaired = repairCalls(fitted?.conversation ?? asked);
  if (repaired) record.lose(repaired.losses);
  const conversation = repaired?.conversation ?? fitted?.conversation ?? asked;
  const bridged = bridgeTools(conversation, adapter.toolRules?.(context.target) ?? plainToolRules);
  if (bridged) record.lose(bridged.losses);
  const { body: value, emulation, relaxedToolSchemas, losses } = adapter.writeRequest(bridged?.conversation ?? conversation, context);
  record.lose(losses);
  return { value, emulation, relaxedToolSchemas, bridge: bridged?.bridge };
}
