/** Certificates of their own making, for one test run. */
import { generate } from 'selfsigned';

export interface Certificate {
  cert: string;
  key: string;
}

/** Self-signed, and its own authority. */
export async function makeCertificate(name: string, addresses: readonly string[] = ['127.0.0.1']): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }, ...addresses.map((ip) => ({ type: 7 as const, ip }))] },
    ],
  });
  return { cert: made.cert, key: made.private };
}
