import { expect, test } from '@jest/globals';
import { type ImportAnswer, printDiff } from './print-diff.ts';

test('prints each row and each field that changed', () => {
  const answer: ImportAnswer = {
    dry_run: true,
    revision: null,
    total_changes: 4,
    changes: [
      { section: 'upstreams', name: 'main', change: 'created', fields: { name: { before: null, after: 'main' } } },
      {
        section: 'models',
        name: 'fast',
        change: 'updated',
        fields: {
          enabled: { before: true, after: false },
          aliases: { before: [], after: ['\u001b[2J'] },
          key: { before: '**', after: '**', secret_changed: true },
        },
      },
      { section: 'access_keys', name: 'ada', change: 'deleted', fields: {} },
    ],
  };
  expect(printDiff(answer)).toBe(
    [
      '+ upstreams main',
      '~ models fast',
      '    enabled: true → false',
      '    aliases: [] → ["\\u001b[2J"]',
      '    key: "**" → "**" (its secret changed)',
      '- access_keys ada',
      '… and 1 more',
      '4 rows would change.',
      '',
    ].join('\n'),
  );
  expect(printDiff({ dry_run: false, revision: 7, total_changes: 0, changes: [] })).toBe('Nothing to change.\n');
});
