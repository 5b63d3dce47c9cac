/** The caller's request in the upstream's protocol: named edits of its bytes when both speak the same one, a new body otherwise. */
import { bridgeTools, fitToModel, plainToolRules, repairCalls } from '@model-gateway/protocols';
import type { Step } from '../draft.ts';

export const translate: Step = {
  name: 'translate',
  run(draft) {
    const { call, context } = draft;
    if (draft.verbatim) {
      const { edits, losses } = draft.verbatim.requestEdits(context);
      draft.edits = edits;
      call.lose(losses);
      return undefined;
    }
    call.did('translate');
    const asked = draft.conversation ?? call.readRequest().conversation;
    const fitted = fitToModel(asked, context.target, draft.upstream);
    if (fitted) call.lose(fitted.losses);
    const repaired = repairCalls(fitted?.conversation ?? asked);
    if (repaired) call.lose(repaired.losses);
    const conversation = repaired?.conversation ?? fitted?.conversation ?? asked;
    const bridged = bridgeTools(conversation, draft.upstream.toolRules?.(context.target) ?? plainToolRules);
    if (bridged) {
      draft.bridge = bridged.bridge;
      call.lose(bridged.losses);
    }
    const written = draft.upstream.writeRequest(bridged?.conversation ?? conversation, context);
    draft.body = written.body;
    draft.emulation = written.emulation;
    draft.relaxedToolSchemas = written.relaxedToolSchemas;
    call.lose(written.losses);
    return undefined;
  },
};
