/** What running hosted tools uses. */
import type { SearchProviderRecord } from '@model-gateway/contracts';
import type { OpenPage, SealPage } from '@model-gateway/protocols';
import type { Outbound } from '@model-gateway/upstream-client';

/** What running hosted tools uses. */
export interface HostedDeps {
  /** Calls search providers, which an admin has entered. */
  readonly searches: Outbound;
  /** Fetches pages that models name: refuses private ranges. null: pages are not fetched. */
  readonly pages: Outbound | null;
  /** null: the provider has no key. Throws where it cannot be opened. */
  openKey(provider: SearchProviderRecord): string | null;
  mintId(prefix: string): string;
  /** What a page says, as a token that callers keep and send back. */
  readonly sealPage: SealPage;
  readonly openPage: OpenPage;
}
