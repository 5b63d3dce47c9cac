/** The certificate of a workload, which identifies the caller when the connection is made. */
import { createHash } from 'node:crypto';
import type { LoginSettings } from '@model-gateway/protocols/login';
import { checkTls, type Egress } from '@model-gateway/upstream-client';
import { TokenFault } from '../../token-http.ts';

/** `source` of the kinds that have one. */
export const certificateSource = 'client_certificate';

/** As an upstream has it in `tls`. */
export function certificateOf(settings: LoginSettings) {
  const { client_cert = null, client_key = null, ca = null } = settings;
  return { client_cert, client_key, ca };
}

/** Throws TokenFault, whose message holds no part of a key. */
export function certificateEgress(settings: LoginSettings): Egress {
  const texts = certificateOf(settings);
  const fault = (message: string) => new TokenFault('client_certificate', message, true);
  if (texts.client_cert === null) throw fault('client_cert and client_key are required for this source.');
  const [first] = checkTls({ ...texts, server_name: null });
  if (first) throw fault(`${first.field} ${first.message}.`);
  const tls = { ca: texts.ca, clientCert: texts.client_cert, clientKey: texts.client_key, minVersion: null, serverName: null };
  return { id: `login-${createHash('sha256').update(JSON.stringify(tls)).digest('base64url')}`, proxy: null, dns: null, tls };
}
