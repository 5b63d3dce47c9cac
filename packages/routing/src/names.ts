/** Names to models and load balancers, as callers, groups and lists see them. */
import type { KeyGroup, Model, ResolvedName, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { ModelFamily } from '@model-gateway/model-catalog';
import { familyOfBalancer, familyOfModel, membersOf } from './family.ts';
import { matchesWildcard } from './wildcard.ts';

/**
 * Resolves a caller's name. 404 for unknown and disabled ones, and for a hidden model's canonical name. `internal`: an admin asks, hidden names
 * resolve too.
 */
export function resolveName(snapshot: Snapshot, name: string, internal = false): ResolvedName {
  const found = snapshot.names.get(name);
  if (!found || !(found.model ?? found.balancer).enabled || (!internal && isHidden(found)))
    throw new GatewayError('model_not_found', { message: `The model ${quote(name)} does not exist.`, param: 'model' });
  return found;
}

const isHidden = (found: ResolvedName): boolean => found.via === 'canonical' && found.model?.hide_name === true;

/** A caller's text as shown in our messages: bounded, on one line. */
const quote = (name: string): string => `\`${name.slice(0, 200).replace(/\p{Cc}/gu, ' ')}\``;

interface Grants {
  exact: ReadonlySet<string>;
  wildcards: readonly string[];
}
/** Groups are frozen and shared by requests: their lists are compiled once. */
const sorted = new WeakMap<KeyGroup, Grants>();

function grantsOf(group: KeyGroup): Grants {
  let grants = sorted.get(group);
  if (!grants) {
    grants = { exact: new Set(group.models.filter((name) => !name.includes('*'))), wildcards: group.models.filter((name) => name.includes('*')) };
    sorted.set(group, grants);
  }
  return grants;
}

/** Whether a group may use a model or load balancer, by its canonical name and never by an alias. */
export function isGranted(group: KeyGroup, canonicalName: string): boolean {
  const { exact, wildcards } = grantsOf(group);
  return exact.has(canonicalName) || wildcards.some((pattern) => matchesWildcard(pattern, canonicalName));
}

/** One entry of a model list. */
export interface Listed {
  name: string;
  /** Milliseconds since the epoch, when known. */
  createdAt: number | undefined;
  /** What is known of the model, or of all that a load balancer may choose. */
  family: ModelFamily | undefined;
  /** The model, or those that a load balancer may choose. */
  models: readonly Model[];
}

/** What a caller of this group sees in model lists: canonical names unless hidden, and aliases; what is disabled left out. */
export function listedNames(snapshot: Snapshot, group: KeyGroup): Listed[] {
  const listed: Listed[] = [];
  for (const model of snapshot.models.values()) {
    if (!model.enabled || !isGranted(group, model.name)) continue;
    const known = { createdAt: model.created_at, family: familyOfModel(model), models: [model] };
    if (!model.hide_name) listed.push({ name: model.name, ...known });
    for (const alias of model.aliases) listed.push({ name: alias, ...known });
  }
  for (const balancer of snapshot.loadBalancers.values()) {
    if (!balancer.enabled || !isGranted(group, balancer.name)) continue;
    const known = { createdAt: balancer.created_at, family: familyOfBalancer(snapshot, balancer), models: membersOf(snapshot, balancer) };
    for (const name of [balancer.name, ...balancer.aliases]) listed.push({ name, ...known });
  }
  return listed;
}
