/** The sandbox's own code as modules for an isolate: one built file in a bundle, the sources without their types in a checkout. */
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Source of one module that runs inside the isolate. */
export interface GuestModule {
  /** Identifies it among the others. */
  path: string;
  code: string;
}

/**
 * Prologue of each module: globals that the sandbox's own code uses and scripts may not. They are removed from the realm before a script runs.
 */
export const guestPrologue = `const {${['Int8Array', 'Uint8Array', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float64Array', 'ArrayBuffer'].join(',')}} = globalThis;`;

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
  if (path === built) return { path, code: text };
  return { path, code: guestPrologue + (path.endsWith('.ts') ? stripTypeScriptTypes(text) : text) };
}
