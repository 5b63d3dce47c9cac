/** The caller's request in the upstream's protocol: named edits of its bytes when both speak the same one, a new body otherwise. */

import { isUnary } from '@model-gateway/contracts';
import { bridgeTools, fitToModel, plainToolRules, repairCalls } from '@model-gateway/protocols';
import { readRequest } from '../../request/current.ts';
import { unaryCodecs } from '../../request/unary-codecs.ts';
import type { PrepareContext, Step } from '../step.ts';
import type { RequestContent, RequestPatch } from '../upstream-request.ts';

export const translate: Step = {
  name: 'translate',
  run(content, current) {
    const { verbatim, context } = content.target;
    if (!verbatim) return isUnary(context.operation) ? writeUnary(content, current) : write(content, current);
    const { edits, losses } = verbatim.requestEdits(context);
    current.record.lose(losses);
    return { edits };
  },
};

/** One question, which is no conversation. */
function writeUnary({ target: { adapter, context } }: RequestContent, { request, record, body }: PrepareContext): RequestPatch {
  const codecs = unaryCodecs(request, adapter);
  record.addStep('translate');
  const asked = codecs.client.readRequest(body.parse());
  record.lose(asked.losses);
  const { body: value, losses } = codecs.upstream.writeRequest(asked.request, context);
  record.lose(losses);
  return { value };
}

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
