/** Files of the TLS towards NATS, PostgreSQL and Redis: checked at the start, and read anew for each connection, so that a renewed certificate needs no restart. */
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity, createSecureContext } from 'node:tls';
import type { NatsTls } from '@model-gateway/bus';
import { type Config, ConfigError, type TlsConfig } from '@model-gateway/config';
import type { Logger } from '@model-gateway/telemetry';

type Prefix = 'NATS' | 'DATABASE' | 'REDIS';

/** Checks the files of all three servers. Throws a `ConfigError` (one line, no content of a file) for one that cannot be used. */
export function checkTlsFiles(
  { process: { natsTls, redisTls }, storage: { databaseTls } }: Config,
  logger: Logger,
): { database: ConnectionOptions | undefined } {
  readTlsFiles('NATS', natsTls, logger);
  readTlsFiles('REDIS', redisTls, logger);
  return { database: readTlsFiles('DATABASE', databaseTls, logger) };
}

/** As the library of NATS takes them: it reads them itself. undefined: none are set. */
export function natsFiles({ caFile, certFile, keyFile, serverName }: TlsConfig): NatsTls | undefined {
  if (caFile === null && certFile === null && serverName === null) return undefined;
  return {
    ...(caFile !== null && { caFile }),
    ...(certFile !== null && { certFile }),
    ...(keyFile !== null && { keyFile }),
    ...(serverName !== null && { servername: serverName }),
  };
}

/** undefined: none are set. Its `ca`, `cert` and `key` are getters; a file that cannot be read any more gives what it held last. */
export function readTlsFiles(prefix: Prefix, { caFile, certFile, keyFile, serverName }: TlsConfig, logger: Logger): ConnectionOptions | undefined {
  if (caFile === null && certFile === null && serverName === null) return undefined;
  const reader = (name: string, file: string | null) => (file === null ? undefined : createReader(`${prefix}_TLS_${name}_FILE`, file, logger));
  const [ca, cert, key] = [reader('CA', caFile), reader('CERT', certFile), reader('KEY', keyFile)];
  check(`${prefix}_TLS_CA_FILE`, 'one or more PEM certificates', ca && { ca: ca() });
  check(`${prefix}_TLS_CERT_FILE`, 'PEM certificates, and their unencrypted PEM key in the key file', cert && key && { cert: cert(), key: key() });
  const options: ConnectionOptions = {
    ...(serverName !== null && { servername: serverName, checkServerIdentity: (_host, peer) => checkServerIdentity(serverName, peer) }),
  };
  for (const [name, read] of Object.entries({ ca, cert, key }))
    if (read) Object.defineProperty(options, name, { get: read, enumerable: true, configurable: true });
  return options;
}

function createReader(setting: string, file: string, logger: Logger): () => string {
  const read = (): string => readFileSync(file, 'utf8');
  let last: string;
  try {
    last = read();
  } catch (error) {
    throw new ConfigError(`${setting} "${file}" cannot be read (${(error as NodeJS.ErrnoException).code}); accepted: a readable PEM file`, { cause: error });
  }
  return () => {
    try {
      last = read();
    } catch (error) {
      logger.warn({ error, file }, 'a file of TLS cannot be read: what it held before is used');
    }
    return last;
  };
}

function check(setting: string, accepted: string, options: { ca?: string; cert?: string; key?: string } | undefined): void {
  if (options === undefined) return;
  try {
    createSecureContext(options);
    const pem = options.ca ?? options.cert ?? '';
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no certificate');
  } catch (error) {
    throw new ConfigError(`${setting} holds what cannot be used for TLS; accepted: ${accepted}`, { cause: error });
  }
}
