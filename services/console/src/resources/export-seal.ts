/** Secrets in an exported file: sealed under the master key, marked, and bound to nothing but that they were exported, so that a file may be edited and moved. */
import { type Keyring, SealError } from '@model-gateway/secrets';
import { invalidField } from '../problem.ts';

const marker = 'enc:';
const boundTo = 'export';

export const sealForExport = (plain: string, keyring: Keyring): string => marker + keyring.seal(plain, boundTo);

export const isSealedForExport = (text: unknown): text is string => typeof text === 'string' && text.startsWith(marker);

/** Throws a 422 that names the field and the master key's id, never a value. */
export function openExported(text: string, keyring: Keyring, field: string): string {
  try {
    return keyring.open(text.slice(marker.length), boundTo);
  } catch (error) {
    throw invalidField(field, error instanceof SealError ? `cannot be opened: ${error.message}` : 'cannot be opened');
  }
}
