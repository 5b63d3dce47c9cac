/** Ids from outside as the database takes them: callers name turns, conversations and items as they like. */
import { createHash } from 'node:crypto';

/** Two of them and an owner fit into one entry of an index. */
const maxIdBytes = 512;

/** No turn or conversation has another id: it is not there. */
export const isStorableId = (id: string): boolean =>
  id !== '' && id.length <= maxIdBytes && !id.includes('\0') && id.isWellFormed() && Buffer.byteLength(id) <= maxIdBytes;

/** What an item is found by: its id, or a digest of one that the database would refuse. */
export const itemKey = (id: string): string => (isStorableId(id) ? id : `digest_${createHash('sha256').update(JSON.stringify(id)).digest('base64url')}`);
