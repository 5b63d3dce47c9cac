/** What the preparation of requests uses. */
import type { HeaderTemplates } from '@model-gateway/body-rules';
import type { UpstreamRecord } from '@model-gateway/contracts';
import type { DerivedKey } from '@model-gateway/secrets';
import type { Egress, Outbound } from '@model-gateway/upstream-client';
import type { HostedDeps } from '../hosted-tools/deps.ts';
import type { UploadFile } from '../media/uploads.ts';
import type { ScriptDeps } from '../scripts/deps.ts';
import type { RefusedFlags } from './refused-flags.ts';
import type { RefusedSignatures } from './refused-signatures.ts';

/** What sealing and opening thinking signatures uses. */
export interface SignatureDeps {
  readonly envelopeKeys: { readonly sealing: DerivedKey; readonly opening: readonly DerivedKey[] };
  readonly refused: RefusedSignatures;
}

/** What the preparation of requests uses. */
export interface PrepareDeps {
  mintId(prefix: string): string;
  readonly signatures: SignatureDeps;
  readonly refusedFlags: RefusedFlags;
  /** The custom headers of an upstream. Throws GatewayError upstream_credential where they cannot be opened. */
  customHeaders(upstream: UpstreamRecord): HeaderTemplates;
  readonly scripts: ScriptDeps;
  readonly network: NetworkDeps;
  readonly hosted: HostedDeps;
  /** Puts a caller's file into the storage of a vendor. */
  readonly upload: UploadFile;
}

/** How connections are made. */
export interface NetworkDeps {
  /** How calls to an upstream leave; undefined is the ordinary way. */
  egressOf(upstream: UpstreamRecord): Egress | undefined;
  /** Fetches addresses in callers' bodies, private ranges refused; null where the operator did not allow it. */
  readonly clientUrls: Outbound | null;
}
