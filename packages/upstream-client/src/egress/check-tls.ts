/** Reports TLS settings that no connection could be made with when they are saved, by field. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

export interface TlsTexts {
  ca: string | null;
  client_cert: string | null;
  client_key: string | null;
  server_name: string | null;
}

type Fault = { field: 'ca' | 'client_cert' | 'client_key' | 'server_name'; message: string };

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*$/i;

/** Messages hold no part of a key. */
export function checkTls({ ca, client_cert, client_key, server_name }: TlsTexts): Fault[] {
  const faults: Fault[] = [];
  if (ca !== null && !areCertificates(ca)) faults.push({ field: 'ca', message: 'must be one or more PEM certificates' });
  if (client_cert !== null && !areCertificates(client_cert))
    faults.push({ field: 'client_cert', message: 'must be a PEM certificate, with its chain after it' });
  if (server_name !== null && !hostName.test(server_name)) faults.push({ field: 'server_name', message: 'must be a host name' });
  if (client_cert !== null && client_key === null) faults.push({ field: 'client_key', message: 'is required with client_cert' });
  if (client_cert === null && client_key !== null) faults.push({ field: 'client_cert', message: 'is required with client_key' });
  if (faults.length === 0 && client_cert !== null && client_key !== null && !fit(client_cert, client_key))
    faults.push({ field: 'client_key', message: 'is not the unencrypted PEM private key of client_cert' });
  return faults;
}

function areCertificates(pem: string): boolean {
  const found = pem.match(certificate) ?? [];
  try {
    for (const one of found) new X509Certificate(one);
    return found.length > 0;
  } catch {
    return false;
  }
}

function fit(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
