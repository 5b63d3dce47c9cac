import { expect, test } from '@jest/globals';
import { createPostgresDialect } from './postgres.ts';

const { translateError } = createPostgresDialect({ url: 'postgresql://127.0.0.1/nothing' }, { warn: () => undefined });
const faultOf = (code: string, words: string): unknown => translateError(Object.assign(new Error(words), { code }));

test('a statement that takes too long is told apart from a database that is away', () => {
  const long = faultOf('57014', 'canceling statement due to statement timeout');
  expect(long).toMatchObject({ code: 'service_unavailable', message: expect.stringContaining('a shorter range of time') });
  expect(faultOf('57P01', 'terminating connection due to administrator command')).toMatchObject({
    code: 'service_unavailable',
    message: 'The database is unavailable.',
  });
});
