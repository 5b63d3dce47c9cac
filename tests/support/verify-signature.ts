/** Checks a SigV4 signature the way the cloud does, written from the vendor's published description and without any signing library. */
import { createHash, createHmac } from 'node:crypto';
import type { UpstreamRequest } from '../fake-upstream/index.ts';

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

export interface Signature {
  accessKeyId: string;
  region: string;
  service: string;
  signedHeaders: string[];
  valid: boolean;
}

/** The path is encoded once on the wire and once more in the canonical request. */
export function verifySignature(received: UpstreamRequest, secretAccessKey: string): Signature {
  const found = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    received.headers.authorization ?? '',
  );
  if (!found) throw new Error(`no signature: ${received.headers.authorization}`);
  const [, accessKeyId = '', day = '', region = '', service = '', names = '', signature] = found;
  const [path = '', query = ''] = received.path.split('?');
  const canonical = [
    received.method,
    path.split('/').map(encodeURIComponent).join('/'),
    query.split('&').sort().join('&'),
    ...names.split(';').map((name) => `${name}:${String(received.headers[name]).trim()}`),
    '',
    names,
    sha256(received.body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', received.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), service), 'aws4_request');
  return { accessKeyId, region, service, signedHeaders: names.split(';'), valid: hmac(key, toSign).toString('hex') === signature };
}
