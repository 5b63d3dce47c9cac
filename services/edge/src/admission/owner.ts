/** Who owns what the gateway keeps for callers: their access key, by an id that outlives its name and its rotation. */
import type { Principal } from './credentials.ts';

/** undefined: the configuration comes from a console of an earlier version, which tells no ids. */
export const ownerOf = ({ key }: Pick<Principal, 'key'>): string | undefined => (key as { id?: string }).id;
