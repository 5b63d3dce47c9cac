/** Seals what was found, so that callers keep it without reading it, and nobody makes up what a search has found. */
import { sealedAs } from '@model-gateway/contracts';
import type { OpenPage, SealPage } from '@model-gateway/protocols';
import type { Keyring } from '@model-gateway/secrets';

/** Both sides of the tokens; the same in every translator that has the master key. */
export const createPageTokens = (keyring: Keyring): { sealPage: SealPage; openPage: OpenPage } => ({
  sealPage: (text) => keyring.seal(text, sealedAs.foundPage),
  openPage(token) {
    try {
      return keyring.open(token, sealedAs.foundPage);
    } catch {
      // Changed on the way, cut, or sealed with a key that is gone: no fault of the request.
      return null;
    }
  },
});
