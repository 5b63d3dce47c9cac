/** The caller's request in the upstream's protocol: named edits of its bytes when both speak the same one, a new body otherwise. */

import { isUnary, type Loss } from '@model-gateway/contracts';
import type { Edit } from '@model-gateway/json-bytes';
import { bridgeTools, fitToModel, nameForCaller, plainToolRules, repairCalls, withoutOtherModels } from '@model-gateway/protocols';
import { hostedSessionOf } from '../../hosted-tools/open-session.ts';
import { fetchAll } from '../../media/inline-media.ts';
import { readRequest } from '../../request/current.ts';
import { renameModel } from '../../request/form-body.ts';
import { partsOf, readUnary, unaryCodecs } from '../../request/unary-codecs.ts';
import { scriptOf } from '../../scripts/run-script.ts';
import { rulesOf } from '../route-rules.ts';
import type { PrepareContext, Step } from '../step.ts';
import type { RequestContent, RequestPatch } from '../upstream-request.ts';

export const translate: Step = {
  name: 'translate',
  run(content, current) {
    const { verbatim, context } = content.target;
    if (current.body.kind === 'form') declareUntouched(current);
    if (!verbatim) return isUnary(context.operation) ? writeUnary(content, current) : write(content, current);
    if (current.body.kind === 'form') return { pieces: renameModel(current.body, context.target.upstreamModelId) };
    if (current.body.kind === 'raw') return undefined;
    const { edits, losses } = verbatim.requestEdits(context);
    current.record.lose(losses);
    return { edits: content.target.passed ? edits : [...edits, ...otherModelEdits(current)] };
  },
};

/** Before the rules of an administrator, who may name them. */
function otherModelEdits({ body, record }: PrepareContext): Edit[] {
  const { edits, losses } = withoutOtherModels((key) => body.topLevel(key));
  record.lose(losses);
  return edits;
}

/** One question, which is not a conversation. */
function writeUnary({ target: { adapter, context } }: RequestContent, current: PrepareContext): RequestPatch | Promise<RequestPatch> {
  const { request, record, body, prepare } = current;
  const codecs = unaryCodecs(request, adapter);
  record.addStep('translate');
  record.lose(readUnary(codecs, body).losses);
  const asked = partsOf(current, codecs, context.target).current;
  const write = (part: unknown): RequestPatch => {
    const { body: value, losses } = codecs.upstream.writeRequest(part, context);
    record.lose(losses);
    return { value };
  };
  const { upload } = codecs.upstream;
  const file = upload?.file(asked, context.target);
  if (upload && file) {
    record.addStep('fetch-media');
    const place = { route: current.route, adapter, signal: request.cancellation.signal() };
    return prepare.upload(file, upload, place).then((address) => write(upload.withAddress(asked, address)));
  }
  const { clientUrls } = prepare.network;
  const urls = clientUrls ? (codecs.upstream.addresses?.(asked) ?? []) : [];
  if (!clientUrls || urls.length === 0) return write(asked);
  record.addStep('fetch-media');
  const { files } = request.cache;
  return fetchAll(urls, files, clientUrls, { signal: request.cancellation.signal(), param: 'images' }).then(() =>
    write(codecs.upstream.withFiles?.(asked, files) ?? asked),
  );
}

/** A group that is strict about losses wants its rules to be run. */
function declareUntouched({ route, record }: PrepareContext): void {
  const { switches, changes } = rulesOf(route);
  const scripted = scriptOf(route, 'request_transform_before') !== undefined || scriptOf(route, 'request_transform_after') !== undefined;
  if (switches || changes || scripted) record.lose([{ field: 'request_body_rules', action: 'dropped', detail: 'Rules and scripts do not run on forms.' }]);
}

function write({ target, conversation: changed }: RequestContent, current: PrepareContext): RequestPatch {
  const { adapter, context } = target;
  const { record, request } = current;
  record.addStep('translate');
  const read = changed ?? readRequest(current).conversation;
  const hosted = hostedSessionOf(current, target, read);
  if (hosted) {
    record.lose(hosted.losses);
    record.addStep('hosted-tools');
  }
  const asked = hosted?.conversation ?? read;
  const fitted = fitToModel(asked, context.target, adapter);
  const lose = (losses: readonly Loss[]) => record.lose(nameForCaller(losses, request.client.callerFields));
  if (fitted) lose(fitted.losses);
  const repaired = repairCalls(fitted?.conversation ?? asked);
  if (repaired) lose(repaired.losses);
  const conversation = repaired?.conversation ?? fitted?.conversation ?? asked;
  const bridged = bridgeTools(conversation, adapter.toolRules?.(context.target) ?? plainToolRules);
  if (bridged) lose(bridged.losses);
  const { body: value, emulation, relaxedToolSchemas, losses } = adapter.writeRequest(bridged?.conversation ?? conversation, context);
  lose(losses);
  return { value, emulation, relaxedToolSchemas, bridge: bridged?.bridge };
}
