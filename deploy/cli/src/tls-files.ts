/** Files of the TLS towards NATS, PostgreSQL and Redis: checked at the start, and read again for each connection, so that a renewed certificate needs no restart. */
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

/** What the files hold. */
interface Texts {
  ca?: string;
  cert?: string;
  key?: string;
}

/** undefined: none are set. Its `ca`, `cert` and `key` are getters; files that cannot be read or used any more give what they held last. */
export function readTlsFiles(prefix: Prefix, { caFile, certFile, keyFile, serverName }: TlsConfig, logger: Logger): ConnectionOptions | undefined {
  if (caFile === null && certFile === null && serverName === null) return undefined;
  const files = Object.entries({ ca: caFile, cert: certFile, key: keyFile }).filter((entry): entry is [keyof Texts, string] => entry[1] !== null);
  const read = (): Texts => Object.fromEntries(files.map(([name, file]) => [name, readPem(`${prefix}_TLS_${name.toUpperCase()}_FILE`, file)]));
  const texts = createRenewal(prefix, read, logger);
  const options: ConnectionOptions = {
    ...(serverName !== null && { servername: serverName, checkServerIdentity: (_host, peer) => checkServerIdentity(serverName, peer) }),
  };
  for (const [name] of files) Object.defineProperty(options, name, { get: () => texts()[name], enumerable: true, configurable: true });
  return options;
}

/**
 * The texts as they are now, all of one moment. While a renewal is under way a file may be half written, or a certificate be there before its key:
 * clients of databases do not survive such a context, so that those of before are used. Throws a `ConfigError` where the first ones cannot be used.
 */
function createRenewal(prefix: Prefix, read: () => Texts, logger: Logger): () => Texts {
  const readChecked = (): Texts => {
    const texts = read();
    checkTexts(prefix, texts);
    return texts;
  };
  let last = readChecked();
  let isFresh = false;
  let complaint = '';
  return () => {
    if (isFresh) return last;
    try {
      last = readChecked();
      complaint = '';
    } catch (error) {
      const { message } = error as Error;
      if (complaint !== message) logger.warn({ error }, 'files of TLS cannot be used: what they held before is used until they are whole');
      complaint = message;
    }
    isFresh = true;
    queueMicrotask(() => {
      isFresh = false;
    });
    return last;
  };
}

function readPem(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${setting} "${file}" cannot be read (${(error as NodeJS.ErrnoException).code}); accepted: a readable PEM file`, { cause: error });
  }
}

function checkTexts(prefix: Prefix, { ca, cert, key }: Texts): void {
  if (ca !== undefined) check(`${prefix}_TLS_CA_FILE`, 'one or more PEM certificates', { ca });
  if (cert !== undefined && key !== undefined)
    check(`${prefix}_TLS_CERT_FILE`, 'PEM certificates, and their unencrypted PEM key in the key file', { cert, key });
}

function check(setting: string, accepted: string, options: Texts): void {
  try {
    createSecureContext(options);
    const pem = options.ca ?? options.cert ?? '';
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no certificate');
  } catch (error) {
    throw new ConfigError(`${setting} holds what cannot be used for TLS; accepted: ${accepted}`, { cause: error });
  }
}
