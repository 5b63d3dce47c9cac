/** Models: names that callers use, and the upstream behind each. */
import { type Model, modelSchema } from '@model-gateway/contracts';
import type { ModelDocument } from '@model-gateway/storage';
import { type Detail, invalid, Problem } from '../problem.ts';
import { checkBaseUrl } from '../validation/base-url.ts';
import { checkKind, checkKindOfProtocol } from '../validation/kind.ts';
import { checkProtocol } from '../validation/protocol.ts';
import { joinPath } from '../validation/read-input.ts';
import type { BuildContext, Resource } from './resource.ts';

export const models: Resource<ModelDocument, Model> = {
  path: 'models',
  noun: 'model',
  sortable: ['name', 'created_at', 'updated_at', 'upstream'],
  schema: modelSchema,
  partial: modelSchema.partial(),
  reader: (reader) => reader.models,
  writer: (writer) => writer.models,
  toInput: (document) => ({ ...document }),
  toReply: (document) => ({ ...document }),
  check: (input, room) => [
    ...(input.protocol === null ? [] : checkProtocol('protocol', input.protocol, room.protocols)),
    ...checkBaseUrl('base_url', input.base_url, room.outbound.policy),
    ...(input.direct_path && input.base_url === null ? [{ field: 'base_url', message: 'is required with direct_path: it is the whole endpoint' }] : []),
    ...checkAliases(input),
    ...checkKind(input.kind, room.protocols),
  ],
  async build(input, context) {
    const upstream = await context.writer.upstreams.find(input.upstream);
    if (!upstream) throw invalid([{ field: joinPath(context.prefix, 'upstream'), message: 'there is no upstream of this name' }]);
    const misfit = checkKindOfProtocol(input.kind, input.protocol ?? upstream.document.protocol, context.room.protocols);
    if (misfit) throw invalid([{ field: joinPath(context.prefix, 'kind'), message: misfit }]);
    await checkNames(input, context);
    return { document: { ...input, kind: input.kind || null } };
  },
  // Balancers, pins and use_model are what could refer to a model; none of them is built yet.
  checkRemoval: async () => undefined,
  toExport: ({ document }) => ({ ...document }),
};

function checkAliases({ name, aliases }: Model): Detail[] {
  const seen = new Set([name]);
  return aliases.flatMap((alias, index) => {
    if (seen.has(alias)) return [{ field: `aliases.${index}`, message: alias === name ? "is the model's own name" : 'appears twice' }];
    seen.add(alias);
    return [];
  });
}

/** Canonical names and aliases of all models are one space. */
async function checkNames({ name, aliases }: Model, { id, writer, prefix }: BuildContext<ModelDocument>): Promise<void> {
  const found = await writer.modelNames.findTaken([name, ...aliases], id);
  if (found.length === 0) return;
  const details = found.map((taken) => ({
    field: joinPath(prefix, ...(taken.name === name ? ['name'] : ['aliases', aliases.indexOf(taken.name)])),
    message: taken.kind === 'alias' ? `is an alias of the model ${taken.model}` : 'is the name of another model',
  }));
  throw new Problem('conflict', `The name ${found[0]?.name} is taken: names and aliases of models share one space.`, details);
}
