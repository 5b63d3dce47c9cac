/** Who somebody is to keys and groups: names that `owner` of a key and `members` of a group may have. */
import { foldPerson, type KeyGroup } from '@model-gateway/contracts';
import type { AccessKeyDocument, CatalogReader, ConsoleUser, StoredResource } from '@model-gateway/storage';
import type { Response } from 'express';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { actorOf } from '../sign-in/actor.ts';

/** Somebody who is signed in. */
export interface Person {
  username: string;
  /** As `owner` of the keys that this person makes. */
  owner: string;
  /** Keys with one of these as their owner are this person's. */
  owners: readonly string[];
  /** Groups that list one of these have this person as a member: names, and values of the provider's role claim. */
  memberships: ReadonlySet<string>;
}

/** Throws 403 for the secret key, and for somebody whose provider vouches for no name. */
export async function personOf(response: Response, { storage }: Pick<ConsoleContext, 'storage'>): Promise<Person> {
  const { username } = actorOf(response);
  const user = username === null ? null : await storage.console.users.find(username);
  if (!user) throw new Problem('forbidden', 'The secret key has no keys of its own: sign in as a user.');
  return toPerson(user);
}

export function toPerson(user: Pick<ConsoleUser, 'username' | 'identity' | 'email' | 'oidcValues'>): Person {
  const { username, identity, email, oidcValues } = user;
  // Somebody may choose the own name at a provider: one that looks like an address is believed only where the provider has verified that address.
  const isTrusted = identity === null || !username.includes('@') || foldPerson(username) === foldPerson(email ?? '');
  const names = [...(email === null ? [] : [email]), ...(isTrusted ? [username] : [])];
  const [owner] = names;
  if (owner === undefined) throw new Problem('forbidden', 'The identity provider vouches for neither a name nor an e-mail address.');
  const owners = [...new Set(names.map(foldPerson))];
  return { username, owner, owners, memberships: new Set([...owners, ...oidcValues.map(foldPerson)]) };
}

/** A group without members belongs to nobody. */
export const isMember = ({ members = [] }: Pick<KeyGroup, 'members'>, { memberships }: Person): boolean =>
  members.some((member) => memberships.has(foldPerson(member)));

type StoredKey = StoredResource<AccessKeyDocument>;

/** Nobody has more that matter. */
const maxOwnKeys = 1_000;

/** All keys of this person, by name. */
export async function ownKeys(reader: Pick<CatalogReader, 'accessKeys'>, { owners }: Person): Promise<StoredKey[]> {
  const found = await Promise.all(owners.map((owner) => reader.accessKeys.where('owner', owner, maxOwnKeys)));
  const keys = new Map(found.flat().map((key) => [key.id, key]));
  return [...keys.values()].sort((one, other) => (one.document.name < other.document.name ? -1 : 1));
}

/** One key of this person. Throws 404: whether somebody else has a key of this name is not disclosed. */
export async function ownKey(reader: Pick<CatalogReader, 'accessKeys'>, person: Person, name: string): Promise<StoredKey> {
  const stored = await reader.accessKeys.find(name);
  if (!stored || !person.owners.includes(foldPerson(stored.document.owner ?? ''))) throw new Problem('not_found', 'You have no access key of this name.');
  return stored;
}
