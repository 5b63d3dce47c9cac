/** Models: names that callers use, and the upstream behind each. */
import { type Model, modelSchema } from '@model-gateway/contracts';
import type { ModelDocument } from '@model-gateway/storage';
import { invalid, refuseReferred } from '../problem.ts';
import { checkBaseUrl, checkQuery } from '../validation/base-url.ts';
import { checkBodyRules, checkTargets, findSwitches } from '../validation/body-rules.ts';
import { checkExtraConfig } from '../validation/extra-config.ts';
import { checkKind, checkKindOfProtocol } from '../validation/kind.ts';
import { checkProtocol } from '../validation/protocol.ts';
import { joinPath } from '../validation/read-input.ts';
import { checkScripts, withoutBlankScripts } from '../validation/scripts.ts';
import { concealConfig } from './conceal.ts';
import { findBalancerLinks } from './load-balancers.ts';
import { checkAliases, refuseTakenNames } from './public-names.ts';
import type { Resource } from './resource.ts';

export const models: Resource<ModelDocument, Model> = {
  path: 'models',
  noun: 'model',
  entityType: 'model',
  sortable: ['name', 'created_at', 'updated_at', 'upstream'],
  filters: { upstream: 'upstream' },
  schema: modelSchema,
  partial: modelSchema.partial(),
  answer: modelSchema,
  reader: (reader) => reader.models,
  writer: (writer) => writer.models,
  toInput: (document) => ({ ...document }),
  toReply: (document) => ({ ...document }),
  conceal: (shown) => ({ ...shown, extra_config: concealConfig(shown['extra_config']) }),
  secrets: ({ extra_config }) => ({ extra_config }),
  check: (input, context) => [
    ...(input.protocol === null ? [] : checkProtocol('protocol', input.protocol, context.protocols)),
    ...checkBaseUrl('base_url', input.base_url, context.outbound.policy),
    ...checkQuery('base_url', input.base_url, input.direct_path),
    ...(input.direct_path && input.base_url === null ? [{ field: 'base_url', message: 'is required with direct_path: it is the whole endpoint' }] : []),
    ...checkAliases(input, 'model'),
    ...checkKind(input.kind, context.protocols),
    ...checkExtraConfig(input.extra_config, 'model'),
    ...checkBodyRules(input.request_body_rules, input.name),
    ...checkScripts(input),
  ],
  async build(input, context) {
    const upstream = await context.writer.upstreams.find(input.upstream);
    if (!upstream) throw invalid([{ field: joinPath(context.prefix, 'upstream'), message: 'there is no upstream of this name' }]);
    const misfit = checkKindOfProtocol(input.kind, input.protocol ?? upstream.document.protocol, context.context.protocols);
    // What an earlier version let a change of the upstream bring about is no fault of another field of the model.
    if (misfit && !isCalledAsBefore(input, context.existing?.document)) throw invalid([{ field: joinPath(context.prefix, 'kind'), message: misfit }]);
    await refuseTakenNames(input, context);
    return { document: { ...withoutBlankScripts(input), kind: input.kind || null } };
  },
  checkLinks: (document, { reader, prefix }) => checkTargets(document.request_body_rules, reader, prefix),
  async checkRemoval({ document }, reader) {
    refuseReferred([await findBalancerLinks(document.name, reader), await findSwitches('model', document.name, reader)]);
  },
  toExport: ({ document }) => ({ ...document }),
};

const isCalledAsBefore = ({ kind, protocol, upstream }: Model, before: ModelDocument | undefined): boolean =>
  before !== undefined && before.kind === kind && before.protocol === protocol && before.upstream === upstream;
