/** Upstream keys are opened only where they belong, and the redactor knows each from then on. */
import { expect, test } from '@jest/globals';
import { sealedAs, type UpstreamRecord } from '@model-gateway/contracts';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { createRedactor } from '@model-gateway/telemetry';
import { createKeyOpener } from '../src/open-key.ts';

const keyring = createKeyring(generateMasterKey());
const upstream = { id: 'up-1', name: 'up' } as UpstreamRecord;
const sealed = (id: string, place = sealedAs.upstreamKey('up-1', id)) => ({ id, weight: 1, sealed: keyring.seal(`sk-canary-${id}-0123456789`, place) });

test('opens, and has it redacted from then on', () => {
  const redactor = createRedactor();
  const open = createKeyOpener(keyring, redactor);
  const key = sealed('a');
  expect(open(upstream, key)).toBe('sk-canary-a-0123456789');
  expect(open(upstream, key)).toBe('sk-canary-a-0123456789');
  expect(redactor.redact('said sk-canary-a-0123456789!')).not.toContain('canary-a');
});

test('of a pair or a triple each part is redacted by itself', () => {
  const redactor = createRedactor();
  const value = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG:FwoGZXIvYXdzTOKEN==';
  createKeyOpener(keyring, redactor)(upstream, { id: 'p', weight: 1, sealed: keyring.seal(value, sealedAs.upstreamKey('up-1', 'p')) });
  for (const part of value.split(':')) expect(redactor.redact(`refused ${part}, sorry`)).toBe('refused [redacted], sorry');
});

test('a ciphertext that was moved to another key or upstream, or is damaged, does not open', () => {
  const open = createKeyOpener(keyring, createRedactor());
  const refused = expect.objectContaining({ code: 'upstream_credential', status: 502 });
  expect(() => open(upstream, sealed('b', sealedAs.upstreamKey('up-1', 'a')))).toThrow(refused);
  expect(() => open({ ...upstream, id: 'up-2' }, sealed('b'))).toThrow(refused);
  const damaged = sealed('c');
  expect(() => open(upstream, { ...damaged, sealed: `${damaged.sealed.slice(0, -6)}AAAAAA` })).toThrow(refused);
});
