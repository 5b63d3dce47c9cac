/** The caller's name for an end user, as upstreams of the chat-completions family take it. */
import type { Losses } from './losses.ts';
import { shortId } from './short-id.ts';

/** Agents of another protocol put ids of account, device and session together here: 130 characters and more, which several vendors answer with a 400. */
const longest = 64;

/** As it is while it is short enough, else a hash of it: the same user gets the same one each time. */
export function fitUser(user: string, losses: Pick<Losses, 'add'>): string {
  if (user.length <= longest) return user;
  losses.add('user', 'renamed', `Ids of users over ${longest} characters are refused: a hash of it was sent.`);
  return shortId(user, 'user_');
}
