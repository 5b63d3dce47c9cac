/** Signs a call as a whole, for clouds that want a signature rather than a key in a header. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { RequestSigning } from '@model-gateway/contracts';

export interface UnsignedRequest {
  method: string;
  /** Absolute. */
  url: string;
  /** Only these are signed, and the host: what is added later does not break the signature. */
  headers: Readonly<Record<string, string>>;
  /** The final bytes. */
  body: Uint8Array | undefined;
}

/**
 * The headers that carry the signature: `authorization`, `x-amz-date`, `x-amz-content-sha256` and, of temporary credentials, `x-amz-security-token`.
 * `at` is the time of signing; the cloud refuses one that is some minutes off its own.
 */
export async function signRequest(signing: RequestSigning, request: UnsignedRequest, at: Date): Promise<Record<string, string>> {
  const { accessKeyId, secretAccessKey, sessionToken, region, service } = signing;
  // Loaded by those who sign alone.
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    region,
    service,
    sha256: Sha256,
  });
  const { protocol, hostname, host, port, pathname, searchParams } = new URL(request.url);
  const query: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of searchParams) query[name] = [...(query[name] ?? []), value];
  const headers = { ...request.headers, host };
  const signed = await signer.sign(
    {
      method: request.method,
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: pathname,
      query,
      headers,
      body: request.body ?? '',
    },
    { signingDate: at },
  );
  return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => !Object.hasOwn(headers, name)));
}

type Data = string | ArrayBuffer | ArrayBufferView;
const bytesOf = (data: Data): string | Uint8Array =>
  typeof data === 'string' ? data : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);

/** SHA-256, plain or keyed, as the signing library takes it. */
class Sha256 {
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = this.#start();
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#start();
  }

  #start(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(this.#secret));
  }
}
