/** Secrets that `up` makes for itself on a first run: files beside the database, readable by their owner alone. */
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '@model-gateway/config';
import { createKeyring, generateMasterKey, type Keyring, MasterKeyError } from '@model-gateway/secrets';

const masterFile = 'master.key';

/** GATEWAY_MASTER_KEY, else the key file that `prepareKeyFiles` made. */
export function masterKeyOf(config: Config): string {
  const given = config.process.masterKey ?? readKey(config, masterFile);
  if (given === null) throw new ConfigError('GATEWAY_MASTER_KEY is not set; accepted: 32 bytes in base64 (openssl rand -base64 32)');
  return given;
}

/** Of `masterKeyOf`. Throws a ConfigError of one line for what could not have come from a random generator. */
export function keyringOf(config: Config): Keyring {
  try {
    return createKeyring(masterKeyOf(config));
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error;
    // The same rules hold for the file, which is not a variable.
    throw new ConfigError(config.process.masterKey === null ? `DATA_DIR: ${masterFile}: ${error.message}` : error.message, { cause: error });
  }
}

/** For `up` alone: makes the data folder and what is missing in it. */
export function prepareKeyFiles(config: Config): void {
  try {
    mkdirSync(config.process.dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new ConfigError(
      `DATA_DIR "${config.process.dataDir}" cannot be made (${(cause as NodeJS.ErrnoException).code}); accepted: a folder that can be written`,
      { cause },
    );
  }
  if (config.storage.mode === 'sqlite') refuseUnwritable(config.process.dataDir);
  if (config.process.masterKey === null) makeKey(config, masterFile, generateMasterKey);
}

const notOurs: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** The database would be away for ever, without a word why. A disk that is full for the moment is another matter. */
function refuseUnwritable(folder: string): void {
  try {
    rmdirSync(mkdtempSync(join(folder, '.try-')));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (notOurs.has(code)) throw new ConfigError(`DATA_DIR "${folder}" cannot be written (${code}); accepted: a folder that can be written`, { cause });
  }
}

function readKey(config: Config, file: string): string | null {
  try {
    return readFileSync(join(config.process.dataDir, file), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ConfigError(`DATA_DIR: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}); accepted: a file this user may read`, { cause: error });
  }
}

/** Two processes at once: the first one's stays. */
function makeKey(config: Config, file: string, make: () => string): void {
  try {
    writeFileSync(join(config.process.dataDir, file), `${make()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new ConfigError(
      `DATA_DIR "${config.process.dataDir}" cannot be written (${(error as NodeJS.ErrnoException).code}); accepted: a folder that can be written`,
      { cause: error },
    );
  }
}
