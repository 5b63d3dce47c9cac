/** Load balancers: one name over several models, and how requests are shared among them. */
import { type LoadBalancer, loadBalancerSchema } from '@model-gateway/contracts';
import type { CatalogReader, LoadBalancerDocument } from '@model-gateway/storage';
import { type Detail, invalid, Problem, type Reference, refuseReferred } from '../problem.ts';
import { findSwitches } from '../validation/body-rules.ts';
import { joinPath } from '../validation/read-input.ts';
import { checkAliases, refuseTakenNames } from './public-names.ts';
import type { BuildContext, Resource } from './resource.ts';

/** An error lists at most this many of what is in the way. */
const listed = 20;

export const loadBalancers: Resource<LoadBalancerDocument, LoadBalancer> = {
  path: 'load-balancers',
  noun: 'load balancer',
  entityType: 'load_balancer',
  sortable: ['name', 'created_at', 'updated_at'],
  schema: loadBalancerSchema,
  partial: loadBalancerSchema.partial(),
  answer: loadBalancerSchema,
  reader: (reader) => reader.loadBalancers,
  writer: (writer) => writer.loadBalancers,
  toInput: (document) => ({ ...document }),
  toReply: (document) => ({ ...document }),
  check: (input) => [...checkAliases(input, 'load balancer'), ...checkRepeated(input)],
  async build(input, context) {
    await refuseTakenNames(input, context);
    await checkEntries(input, context);
    if (context.existing) await refuseLostPins(input, context);
    return { document: input };
  },
  // Its pins are part of it and go with it.
  checkRemoval: async ({ document }, reader) => refuseReferred([await findSwitches('load balancer', document.name, reader)]),
  toExport: ({ document }) => ({ ...document }),
};

function checkRepeated({ entries }: LoadBalancer): Detail[] {
  const seen = new Set<string>();
  return entries.flatMap(({ model }, index) => {
    if (seen.has(model)) return [{ field: `entries.${index}.model`, message: 'appears twice' }];
    seen.add(model);
    return [];
  });
}

async function checkEntries({ entries }: LoadBalancer, { writer, prefix }: BuildContext<LoadBalancerDocument>): Promise<void> {
  const faults: Detail[] = [];
  for (const [index, { model }] of entries.entries()) {
    if (await writer.models.find(model)) continue;
    const [taken] = await writer.modelNames.findTaken([model]);
    const message =
      taken?.owner === 'load balancer'
        ? 'is a load balancer: an entry must be a model'
        : taken
          ? `is an alias: name the model itself, ${taken.of}`
          : 'there is no model of this name';
    faults.push({ field: joinPath(prefix, 'entries', index, 'model'), message });
  }
  if (faults.length > 0) throw invalid(faults);
}

/** An entry that pins name must stay until they are gone. */
async function refuseLostPins({ entries }: LoadBalancer, { existing, writer, prefix }: BuildContext<LoadBalancerDocument>): Promise<void> {
  const kept = new Set(entries.map(({ model }) => model));
  const gone = (existing?.document.entries ?? []).filter(({ model }) => !kept.has(model));
  for (const { model } of gone) {
    const pins = (await writer.balancerLinks.pinsOn(model, listed)).filter(({ load_balancer }) => load_balancer === existing?.document.name);
    if (pins.length === 0) continue;
    const keys = pins.map(({ access_key }) => access_key).join(', ');
    throw new Problem('in_use', `The entry ${model} is still pinned by access keys: ${keys}.`, [
      { field: joinPath(prefix, 'entries'), message: `${model} is pinned by ${keys}` },
    ]);
  }
}

/** Which load balancers and pins refer to a model; null: none. */
export async function findBalancerLinks(model: string, reader: Pick<CatalogReader, 'balancerLinks'>): Promise<Reference | null> {
  const balancers = await reader.balancerLinks.balancersOf(model, listed);
  const pins = await reader.balancerLinks.pinsOn(model, listed);
  if (balancers.length + pins.length === 0) return null;
  const named = pins.map((pin) => `${pin.load_balancer}/${pin.access_key}`);
  const parts = [...(balancers.length > 0 ? [`load balancers: ${balancers.join(', ')}`] : []), ...(named.length > 0 ? [`pins: ${named.join(', ')}`] : [])];
  return {
    message: `The model is still used by ${parts.join('; ')}.`,
    details: [...balancers.map((message) => ({ field: 'load_balancers', message })), ...named.map((message) => ({ field: 'pins', message }))],
  };
}
