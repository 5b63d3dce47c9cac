/** How the preparation of a request has a file uploaded. */
import type { FormFile, UnaryUpload, UpstreamAdapter } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';

/** Where the file goes with the route of one attempt. */
export interface UploadContext {
  readonly route: Route;
  readonly adapter: UpstreamAdapter;
  /** Aborts the upload. */
  readonly signal: AbortSignal;
}

/** Resolves with the file's address. Rejects with UploadFailure, or with the caller's error for a file that is too large. */
export type UploadFile = (file: FormFile, upload: UnaryUpload<unknown>, context: UploadContext) => Promise<string>;
