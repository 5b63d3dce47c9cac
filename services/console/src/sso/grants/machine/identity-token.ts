/** The identity token that a platform projects into a container: read again for each exchange, since the platform renews the file. */
import { constants, type FileHandle, open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { LoginSettings } from '@model-gateway/protocols/login';
import { TokenFault } from '../../token-http.ts';

/** Vendors refuse larger assertions, and nothing that is larger is one. */
const maxBytes = 16 * 1024;
/** A token of three parts, or (encrypted) of five. Any other file of this machine is sent to nobody, whatever address an admin enters. */
const jwt = /^[\w-]+(?:\.[\w-]*){2}(?:(?:\.[\w-]*){2})?$/;

/** The file cannot be read at the moment, or holds no identity token; what it holds is never repeated. */
const fault = (message: string, terminal: boolean) => new TokenFault('identity_token', message, terminal);

/** Throws TokenFault. A file that is not there is one for now: volumes may be mounted late. */
export async function readIdentityToken(settings: LoginSettings): Promise<string> {
  const path = settings['token_file'] ?? '';
  if (!isAbsolute(path)) throw fault('token_file must be an absolute path.', true);
  let file: FileHandle | undefined;
  let text: string;
  try {
    // A pipe without a writer must not hold the refresher.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw fault('token_file is not a file.', true);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    if (bytesRead > maxBytes) throw fault('The identity token in token_file is larger than 16 KiB.', true);
    text = buffer.toString('latin1', 0, bytesRead).trim();
  } catch (error) {
    if (error instanceof TokenFault) throw error;
    throw fault(`token_file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`, false);
  } finally {
    await file?.close();
  }
  if (!jwt.test(text)) throw fault('token_file holds no identity token (a JWT).', true);
  return text;
}
