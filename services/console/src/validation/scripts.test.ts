import { expect, test } from '@jest/globals';
import { spellScripts } from './scripts.ts';

const [before, after] = ['request_transform_before', 'request_transform_after'];
const spelled = (body: object, stored?: object) => spellScripts(body as never, stored as never);

test.each([
  ['a script without a position comes after', { request_script: 'S' }, {}, { [after]: 'S', [before]: null }],
  ['a script with its position', { request_script: 'S', script_position: 'before' }, {}, { [before]: 'S', [after]: null }],
  ['null is the usual position', { request_script: 'S', script_position: null }, {}, { [after]: 'S', [before]: null }],
  ['a position alone moves the script', { script_position: 'before' }, { [after]: 'S' }, { [before]: 'S', [after]: null }],
  ['and back', { script_position: 'after' }, { [before]: 'S', [after]: null }, { [after]: 'S', [before]: null }],
  ['script and position move it', { request_script: 'S', script_position: 'before' }, { [after]: 'S' }, { [before]: 'S', [after]: null }],
  ['also when it changes on the way', { request_script: 'T', script_position: 'before' }, { [after]: 'S' }, { [before]: 'T', [after]: null }],
  ['a script alone stays where it is', { request_script: 'T' }, { [before]: 'S' }, { [before]: 'T', [after]: null }],
  ['null takes it away wherever it is', { request_script: null }, { [before]: 'S' }, { [before]: null, [after]: null }],
  [
    'one that got into both slots is one',
    { request_script: 'S', script_position: 'before' },
    { [before]: 'S', [after]: 'S' },
    { [before]: 'S', [after]: null },
  ],
  ['the same by its position', { script_position: 'after' }, { [before]: 'S', [after]: 'S' }, { [after]: 'S', [before]: null }],
  ['a whole object sent back with a position', { [before]: null, [after]: 'S', script_position: 'before' }, { [after]: 'S' }, { [before]: 'S', [after]: null }],
  ['a second script by its slot', { request_script: 'S', script_position: 'before', [after]: 'T' }, {}, { [before]: 'S', [after]: 'T' }],
  ['a position of nothing that is the usual one', { script_position: 'after' }, {}, {}],
  ['the script of replies', { response_script: 'S' }, { [after]: 'T' }, { response_transform: 'S' }],
  ['slots by their own names', { [after]: 'S' }, { [before]: 'T' }, { [after]: 'S' }],
])('%s', (_what, body, stored, fields) => {
  expect(spelled(body, stored)).toEqual({ fields, refused: [] });
});

test.each([
  ['no position', { script_position: 'middle' }, {}, 'script_position', 'after or before'],
  ['a name of every object', { script_position: 'constructor' }, {}, 'script_position', 'after or before'],
  ['nothing to move', { script_position: 'before' }, { [before]: '', [after]: null }, 'script_position', 'no request script to move'],
  ['two scripts and one position', { script_position: 'before' }, { [before]: 'S', [after]: 'T' }, 'script_position', 'both request slots'],
  ['two scripts and one text', { request_script: 'U' }, { [before]: 'S', [after]: 'T' }, 'request_script', 'both request slots'],
  ['two texts for one slot', { request_script: 'S', [after]: 'T' }, {}, 'request_script', 'another spelling of request_transform_after'],
  ['what is no script twice', { request_script: 5, [after]: 6 }, {}, 'request_script', 'another spelling of request_transform_after'],
  ['two texts for replies', { response_script: 'S', response_transform: 'T' }, {}, 'response_script', 'another spelling of response_transform'],
])('refused: %s', (_what, body, stored, field, words) => {
  expect(spelled(body, stored).refused).toEqual([{ field, message: expect.stringContaining(words) }]);
});
