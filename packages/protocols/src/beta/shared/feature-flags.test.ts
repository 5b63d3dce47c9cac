/** Pain 19: which feature flags go to whom, and what an upstream's refusal of one means. */
import { describe, expect, test } from '@jest/globals';
import { target } from '../../../test/support/beta.ts';
import type { UpstreamFault } from '../../chat/event.ts';
import { flagsFor, flagsOfCaller, readRefusedFlags } from './feature-flags.ts';

const sent = ['context-1m-2025-08-07', 'made-up-2030-01-01'];

describe('which go', () => {
  test('the vendor knows all of its own; others get what is documented', () => {
    expect(flagsFor(sent, target({ baseUrl: 'https://api.anthropic.com' }))).toEqual({ kept: sent, dropped: false });
    expect(flagsFor(sent, target({ baseUrl: 'https://api.compatible.test/anthropic' }))).toEqual({ kept: [sent[0]], dropped: true });
    expect(flagsFor(sent, target({ baseUrl: 'https://anthropic.com.evil.test' })).kept).toEqual([sent[0]]);
  });
  test('what the vendor’s SDK declares is documented', () => {
    const newer = ['server-side-fallback-2026-07-01', 'message-threads-2026-08-12', 'context-1m-2025-08-07'];
    expect(flagsFor(newer, target({ baseUrl: 'https://api.compatible.test' })).kept).toEqual(newer);
  });
  test('an admin’s list takes the place of both, and what was refused goes to nobody', () => {
    expect(flagsFor(sent, target({ extraConfig: { beta_flags: 'all' } })).kept).toEqual(sent);
    expect(flagsFor(sent, target({ extraConfig: { beta_flags: ['made-up-2030-01-01'] } })).kept).toEqual(['made-up-2030-01-01']);
    expect(flagsFor(sent, target({ baseUrl: 'https://api.anthropic.com', refusedFlags: new Set([sent[0]!]) })).kept).toEqual(['made-up-2030-01-01']);
  });
  test('a caller’s list, under either name, each once and never endless', () => {
    expect(flagsOfCaller({ 'beta-beta': ' a-1,b-2 ,,a-1' })).toEqual(['a-1', 'b-2']);
    expect(flagsOfCaller({ 'anthropic-beta': Array.from({ length: 500 }, (_, at) => `f-${at}`).join(',') }).length).toBeLessThanOrEqual(64);
  });
});

test.each<[string, UpstreamFault['class'], string[]]>([
  ['Unexpected value(s) `context-1m-2025-08-07` for the `anthropic-beta` header.', 'caller', ['context-1m-2025-08-07']],
  ['invalid beta flag', 'caller', sent],
  ['The beta feature made-up-2030-01-01 is not supported by this model', 'caller', ['made-up-2030-01-01']],
  ['messages.0.content: invalid value', 'caller', []],
  ['The flag is set', 'caller', []],
  ['invalid beta flag', 'server', []],
])('%s (%s)', (message, kind, refused) => expect(readRefusedFlags({ class: kind, message }, sent)).toEqual(refused));
