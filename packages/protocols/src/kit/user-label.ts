/** The caller's name for an end user, as vendors take it. */
import type { Conversation } from '../chat/conversation.ts';
import type { Losses } from './losses.ts';
import { shortId } from './short-id.ts';

/** Agents of another protocol put ids of account, device and session together here: 130 characters and more, which several vendors answer with a 400. */
const maxLength = 64;

/** As it is while it is short enough, else a hash of it: the same user gets the same one each time. */
export function fitUser(user: string, losses: Pick<Losses, 'add'>, field = 'user'): string {
  if (user.length <= maxLength) return user;
  losses.add(field, 'renamed', `Ids of users over ${maxLength} characters are refused: a hash of it was sent.`);
  return hashed(user);
}

/** The id of the end user for an upstream with one field for it: the caller's own, else its safety identifier, which some vendors have beside it. */
export function onlyUser({ user, safetyIdentifier }: Conversation, losses: Pick<Losses, 'add'>): string | undefined {
  if (safetyIdentifier === undefined) return user;
  if (user === undefined) losses.add('safety_identifier', 'renamed', 'Sent as the id of the user.');
  else losses.add('safety_identifier', 'dropped', 'Only one id of a user is taken.');
  return user ?? safetyIdentifier;
}

/** Both ids of the end user, for upstreams that have a field for each. */
export const bothUsers = ({ user, safetyIdentifier }: Conversation, losses: Pick<Losses, 'add'>): { user?: string; safety_identifier?: string } => ({
  ...(user !== undefined && { user: fitUser(user, losses) }),
  ...(safetyIdentifier !== undefined && { safety_identifier: fitUser(safetyIdentifier, losses, 'safety_identifier') }),
});

/** A vendor that refuses e-mail addresses and telephone numbers, and longer ids, gets a hash in their place. */
export function hideUser(user: string, losses: Pick<Losses, 'add'>): string {
  if (user.length <= maxHiddenLength && !email.test(user) && !telephone.test(user)) return user;
  losses.add('user', 'renamed', 'E-mail addresses, telephone numbers and long ids of users are refused: a hash of it was sent.');
  return hashed(user);
}

const maxHiddenLength = 256;
const email = /[^\s@]@[^\s@]+\.[^\s@]/;
const telephone = /^\s*\+?[\d\s().-]{7,24}$|\+\d[\d\s().-]{6,}/;

/** `shortId` leaves short ids alone, so they are made long first. */
const hashed = (user: string): string => shortId(user.padEnd(65, ' '), 'user_');
