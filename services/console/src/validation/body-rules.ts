/** Body rules: what no request could be changed by is refused by name, and so is a model that a rule names but nobody knows. */

import { checkRules } from '@model-gateway/body-rules';
import type { BodyRule } from '@model-gateway/contracts';
import type { CatalogReader } from '@model-gateway/storage';
import { type Detail, invalid, type Reference } from '../problem.ts';
import { joinPath } from './read-input.ts';

const field = 'request_body_rules';

/** `name`: of the model that the rules are part of. */
export function checkBodyRules(rules: readonly BodyRule[] | undefined, name?: string): Detail[] {
  const faults = checkRules(rules ?? []).map((fault) => ({ field: `${field}.${fault.field}`, message: fault.message }));
  const itself = (rules ?? []).flatMap(({ use_model }, index) =>
    name !== undefined && use_model === name ? [{ field: `${field}.${index}.use_model`, message: 'is this model itself: name another one' }] : [],
  );
  return [...faults, ...itself];
}

/** Throws 422 for each `use_model` that is neither a model nor a load balancer. Asked when everything is written that one request writes. */
export async function checkTargets(rules: readonly BodyRule[] | undefined, reader: Pick<CatalogReader, 'modelNames'>, prefix: string): Promise<void> {
  const named = (rules ?? []).flatMap(({ use_model }, index) => (use_model ? [{ name: use_model, index }] : []));
  if (named.length === 0) return;
  const known = await reader.modelNames.findTaken([...new Set(named.map(({ name }) => name))]);
  const faults = named.flatMap(({ name, index }): Detail[] => {
    const found = known.find((one) => one.name === name);
    if (found?.kind === 'canonical') return [];
    const message = found ? `is an alias: name the ${found.owner} itself, ${found.of}` : 'there is no model or load balancer of this name';
    return [{ field: joinPath(prefix, field, index, 'use_model'), message }];
  });
  if (faults.length > 0) throw invalid(faults);
}

/** An error lists at most this many of what is in the way. */
const listed = 20;

/** Whose rules route requests to a model or load balancer; null: nobody's. */
export async function findSwitches(noun: string, name: string, reader: Pick<CatalogReader, 'switchLinks'>): Promise<Reference | null> {
  const owners = await reader.switchLinks.ownersOf(name, listed);
  if (owners.length === 0) return null;
  return {
    message: `Rules still send requests to the ${noun}: those of ${owners.map((owner) => `the ${owner.kind} ${owner.name}`).join(', ')}.`,
    details: owners.map((owner) => ({ field: `${owner.kind}s`, message: owner.name })),
  };
}
