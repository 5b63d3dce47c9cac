/** Where one attempt goes, and how a call is addressed and signed. */
import type { Operation, ProtocolId, RequestSigning } from '@model-gateway/contracts';
import type { ModelFamily } from '@model-gateway/model-catalog';

/** Where and how one attempt goes; resolved from the snapshot. */
export interface Target {
  /** `base_url` of the model, else of the upstream. */
  baseUrl: string;
  /** Use `baseUrl` as the whole endpoint. */
  directPath: boolean;
  /** inference_profile, else upstream_model_id. */
  upstreamModelId: string;
  /** upstream_model_id; the model's own id also where the address names an inference profile, whose id may not name the model. */
  modelId?: string;
  neutralHeaders: boolean;
  extraConfig: Record<string, unknown> | null;
  /** What is known of the model; looked up by `familyOf` when absent. */
  family?: ModelFamily;
  /** The model's `kind`: which variant of the protocol it speaks; absent or null for the usual one. */
  kind?: string | null;
  /** The upstream's custom headers of the names in `bodyHeaders`, as they will be sent: they override the adapter's own. Absent: it has none. */
  customHeaders?: Readonly<Record<string, string>>;
  /** Feature flags that this upstream refused for this model a short while ago. */
  refusedFlags?: ReadonlySet<string>;
}

/** Method, address and headers of an upstream call, without credentials and body. */
export interface UpstreamRequest {
  method: string;
  /** Absolute. */
  url: string;
  /** Path and query to the byte, where those of `url` would be encoded anew; absent: those of `url`. */
  path?: string;
  /** Without the credential; version and feature headers of this protocol, `content-type`, `accept`. */
  headers: Record<string, string>;
}

/** Addresses and credentials. Example: `request({ target, operation: 'generate', stream: true })` gives `{ method: 'POST', url, headers }`. */
export interface UpstreamCalls {
  /**
   * Address and headers of a call. `clientHeaders` are the caller's (allow-listed names only reach the upstream, and only when both sides
   * speak this protocol), `clientQuery` likewise.
   */
  request(context: {
    target: Target;
    operation: Operation;
    stream: boolean;
    clientHeaders?: Readonly<Record<string, string>>;
    clientQuery?: string;
    clientPath?: string;
    /** Absent: POST. */
    clientMethod?: string;
    /** The written body, for those whose address depends on it; undefined: the caller's own passes. */
    body?: () => unknown;
  }): UpstreamRequest;
  /** The credential's header, and what must go with it. `headers`: those of the request so far, which the result is laid over. */
  credential(key: string, target: Target, headers?: Readonly<Record<string, string>>): Record<string, string>;
  /** How a key of this kind signs the whole request, in place of `credential`; null: the key is sent in a header. */
  signing?(key: string, target: Target): RequestSigning | null;
  /** Lower-case names of headers on which the body depends: an upstream may set them by custom headers (`Target.customHeaders`). Absent: none. */
  bodyHeaders?: readonly string[];
  /** What models behind this target are served for; absent: conversations. */
  serves?(target: Target): readonly Operation[];
  /** Values of a model's `kind` that mean something to this protocol, beside none. Absent: none does. */
  kinds?: readonly string[];
  /**
   * The protocol whose thinking signatures this one carries, where they are not its own: the same vendor's models behind another protocol. Absent:
   * its own.
   */
  signatureKind?(target: Target): ProtocolId;
}
