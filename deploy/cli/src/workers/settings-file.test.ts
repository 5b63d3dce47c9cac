/** Which settings the next worker gets: the file's, or those of before where no worker could start with them. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SettingsFile } from './settings-file.ts';

let folder: string;
let file: string;
let copy: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-settings-'));
  [file, copy] = [join(folder, 'gateway.toml'), join(folder, 'settings.toml')];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const fromFile = { isEarlier: false, argv: [] };
const fromCopy = () => ({ isEarlier: true, argv: ['--config-file', copy] });

test('a file that no worker can start with is read once; the next worker gets the state of before, until the file changes again', () => {
  writeFileSync(file, 'good');
  const settings = new SettingsFile(file, copy);
  writeFileSync(file, 'nonsense');
  const first = settings.choose({ anew: false });
  expect(first).toEqual({ state: 'nonsense', ...fromFile });
  settings.failed(first);
  expect(settings.choose({ anew: false })).toEqual({ state: 'good', ...fromCopy() });
  expect([readFileSync(copy, 'utf8'), statSync(copy).mode & 0o777]).toEqual(['good', 0o600]);
  // Who asks for a renewal is told that it fails.
  expect(settings.choose({ anew: true })).toEqual({ state: 'nonsense', ...fromFile });
  writeFileSync(file, 'mended');
  const mended = settings.choose({ anew: false });
  expect(mended).toEqual({ state: 'mended', ...fromFile });
  settings.worked(mended);
  writeFileSync(file, 'nonsense');
  expect(settings.choose({ anew: false })).toEqual({ state: 'mended', ...fromCopy() });
});

test('a worker that dies while it starts with the settings of the others proves nothing about them', () => {
  writeFileSync(file, 'good');
  const settings = new SettingsFile(file, copy);
  settings.failed(settings.choose({ anew: false }));
  expect(settings.choose({ anew: false })).toEqual({ state: 'good', ...fromFile });
});

test('a file that was missing at first, and is deleted later, are states like others', () => {
  const settings = new SettingsFile(file, copy);
  writeFileSync(file, 'nonsense');
  settings.failed(settings.choose({ anew: false }));
  expect(settings.choose({ anew: false })).toEqual({ state: null, ...fromCopy() });
  expect(readFileSync(copy, 'utf8')).toBe('');
  rmSync(file);
  expect(settings.choose({ anew: false })).toEqual({ state: null, ...fromFile });
});
