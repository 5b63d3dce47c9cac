/** How the connections to NATS, PostgreSQL and Redis are secured: the same four settings for each. */
import { text } from './parsers.ts';
import { type Variable, variable } from './variable.ts';

/** Files of one server's TLS; any of them asks for TLS. */
export type TlsVariables = {
  caFile: Variable<string | null>;
  certFile: Variable<string | null>;
  keyFile: Variable<string | null>;
  serverName: Variable<string | null>;
};

/** `prefix` begins the names of the environment; `server` is what people call it. */
export const tlsVariables = (prefix: 'NATS' | 'DATABASE' | 'REDIS', server: string): TlsVariables => ({
  caFile: variable(text(1024), {
    env: `${prefix}_TLS_CA_FILE`,
    fallback: null,
    description: `Certificates (PEM) by which the certificate of ${server} is verified, in place of the system's. With this or one of the next three, only TLS is spoken with it. The files are read again for each connection.`,
  }),
  certFile: variable(text(1024), {
    env: `${prefix}_TLS_CERT_FILE`,
    fallback: null,
    description: `The gateway's own certificate (PEM) for ${server}, with its chain after it.`,
  }),
  keyFile: variable(text(1024), { env: `${prefix}_TLS_KEY_FILE`, fallback: null, description: 'Its private key (PEM, not encrypted).' }),
  serverName: variable(text(253), {
    env: `${prefix}_TLS_SERVER_NAME`,
    fallback: null,
    description: `The name that the certificate of ${server} has to be for, where it is another than that of the address.`,
  }),
});
