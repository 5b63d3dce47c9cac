/** The sandbox's own code as modules for an isolate: one built file in a bundle, the sources without their types in a checkout. */
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface GuestModule {
  /** Identifies it among the others. */
  path: string;
  code: string;
}

const built = join(import.meta.dirname, 'script-guest.js');

/** The module to begin with. */
export function guestEntry(): GuestModule {
  return readModule(existsSync(built) ? built : join(import.meta.dirname, '../guest/main.ts'));
}

/** What a module imports. */
export function guestImport(specifier: string, from: GuestModule): GuestModule {
  return readModule(specifier.startsWith('.') ? join(from.path, '..', specifier) : fileURLToPath(import.meta.resolve(specifier)));
}

function readModule(path: string): GuestModule {
  const text = readFileSync(path, 'utf8');
  return { path, code: path.endsWith('.ts') ? stripTypeScriptTypes(text) : text };
}
