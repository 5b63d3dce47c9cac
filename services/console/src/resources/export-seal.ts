/** Secrets in an exported file: sealed under the master key, marked, and bound to nothing but that they were exported, so that a file may be edited and moved. */
import { type Keyring, SealError } from '@model-gateway/secrets';
import { invalidField } from '../problem.ts';
import { upstreamKeyMask } from './upstream-keys.ts';

const marker = 'enc:';
const boundTo = 'export';

const sealForExport = (plain: string, keyring: Keyring): string => marker + keyring.seal(plain, boundTo);

/** How one row's secrets get into a file. */
export interface ExportSeal {
  seal(plain: string): string;
  /** A stored secret. `whole`: what is exported of it. One that does not open becomes a mask: "as stored" where the file comes back, and refused by name elsewhere. */
  reseal(sealed: string, boundTo: string, whole?: (plain: string) => string): string;
}

/** `onLost`: called with the reason when a secret does not open. */
export const createExportSeal = (keyring: Keyring, onLost: (reason: string) => void): ExportSeal => ({
  seal: (plain) => sealForExport(plain, keyring),
  reseal(sealed, boundTo, whole = (plain) => plain) {
    try {
      return sealForExport(whole(keyring.open(sealed, boundTo)), keyring);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      onLost(error.message);
      return whole(upstreamKeyMask);
    }
  },
});

export const isSealedForExport = (text: unknown): text is string => typeof text === 'string' && text.startsWith(marker);

/** Throws a 422 that names the field and the master key's id, never a value. */
export function openExported(text: string, keyring: Keyring, field: string): string {
  try {
    return keyring.open(text.slice(marker.length), boundTo);
  } catch (error) {
    throw invalidField(field, error instanceof SealError ? `cannot be opened: ${error.message}` : 'cannot be opened');
  }
}
