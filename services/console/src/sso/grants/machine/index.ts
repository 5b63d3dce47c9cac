/** Grants of machine identities: nobody logs in, the place where the gateway runs has an identity, which is exchanged for short tokens. */
import type { SendToken } from '../../token-http.ts';
import type { Grants } from '../grant.ts';
import { awsRole } from './aws-role.ts';
import { entra } from './entra.ts';
import { jwtBearer, tokenExchange } from './exchanges.ts';
import { googleCloud } from './google-cloud.ts';
import { createTokenFetch } from './token-fetch.ts';

export function createMachineGrants(send: SendToken): Grants {
  const fetch = createTokenFetch(send);
  return { 'aws-role': awsRole(send), 'jwt-bearer-json': jwtBearer, 'token-exchange': tokenExchange, google: googleCloud(fetch), entra: entra(fetch) };
}

export { certificateOf, certificateSource } from './client-certificate.ts';
