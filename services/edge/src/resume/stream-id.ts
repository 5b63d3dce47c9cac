/** Ids of streams that can be taken up again: which edge has the stream, and a digest by which any edge can tell its owner from others. */
import { hash, randomBytes } from 'node:crypto';

const processLength = 16;
const tokenLength = 22;
const digestLength = 16;
const form = new RegExp(`^stream_([\\w-]{${processLength}})([\\w-]{${tokenLength}})([\\w-]{${digestLength}})$`);

/** The name under which an edge serves its streams. */
export const mintProcessName = (): string => randomBytes(12).toString('base64url');

const digestOf = (process: string, token: string, owner: string): string =>
  hash('sha256', `${process}\u0000${token}\u0000${owner}`, 'base64url').slice(0, digestLength);

export function mintStreamId(process: string, owner: string): string {
  const token = randomBytes(16).toString('base64url');
  return `stream_${process}${token}${digestOf(process, token, owner)}`;
}

/** The name of the edge that has, or had, the stream; null: there is no such stream of this owner. */
export function processOf(id: string, owner: string): string | null {
  const [, process, token, digest] = form.exec(id) ?? [];
  if (process === undefined || token === undefined || digest !== digestOf(process, token, owner)) return null;
  return process;
}
