/** Names to models, as callers, groups and lists see them. */
import type { KeyGroup, Model, ResolvedName, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/errors';
import { matchesWildcard } from './wildcard.ts';

/** The model behind a caller's name. 404 for unknown and disabled ones, and for a hidden model's canonical name. */
export function resolveName(snapshot: Snapshot, name: string): ResolvedName {
  const found = snapshot.names.get(name);
  if (!found?.model.enabled || (found.via === 'canonical' && found.model.hide_name))
    throw new GatewayError('model_not_found', { message: `The model ${quote(name)} does not exist.`, param: 'model' });
  return found;
}

/** A caller's text in a message of ours: bounded, on one line. */
const quote = (name: string): string => `\`${name.slice(0, 200).replace(/\p{Cc}/gu, ' ')}\``;

/** Whether a group may use a model, by its canonical name and never by an alias. */
export const isGranted = (group: KeyGroup, canonicalName: string): boolean => group.models.some((pattern) => matchesWildcard(pattern, canonicalName));

/** What a caller of this group sees in model lists: canonical names unless hidden, and aliases; disabled models left out. */
export function listedNames(snapshot: Snapshot, group: KeyGroup): { name: string; model: Model }[] {
  const listed: { name: string; model: Model }[] = [];
  for (const model of snapshot.models.values()) {
    if (!model.enabled || !isGranted(group, model.name)) continue;
    if (!model.hide_name) listed.push({ name: model.name, model });
    for (const alias of model.aliases) listed.push({ name: alias, model });
  }
  return listed;
}
