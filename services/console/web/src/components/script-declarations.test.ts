/** What editors offer is what the language declares. */
import { describe, expect, test } from '@jest/globals';
import { builtinNames, scriptTypes } from '@model-gateway/script-language';
import { completionsOf } from './script-declarations.ts';

const found = completionsOf(scriptTypes);

describe('completions of the declarations', () => {
  test('every built-in is offered with its parameters, and the function of the script is not', () => {
    const alone = found.filter(({ memberOf }) => memberOf === undefined);
    expect(alone.map(({ label }) => label)).toEqual([...builtinNames]);
    expect(alone.every(({ type, detail }) => type === 'function' && detail.startsWith('('))).toBe(true);
    expect(alone.find(({ label }) => label === 'set_path')).toEqual({
      label: 'set_path',
      detail: '(object: T, path: string, value: Json): T',
      type: 'function',
      info: "Sets the value at a path, making objects on the way (for null too), and the element behind a list's last; every match of a `*`. Gives the object back.",
    });
  });

  test('members of the context are offered behind its name', () => {
    const members = found.filter(({ memberOf }) => memberOf === 'context');
    expect(members.map(({ label }) => label)).toEqual(expect.arrayContaining(['clientModel', 'targetProtocol', 'headers', 'responseStatus', 'elapsedMs']));
    expect(members.find(({ label }) => label === 'responseStatus')).toEqual({
      label: 'responseStatus',
      detail: 'number',
      type: 'property',
      memberOf: 'context',
      info: 'Response scripts only.',
    });
    expect(members.find(({ label }) => label === 'useModel')).toMatchObject({
      type: 'method',
      info: expect.stringMatching(/^Sends the request .* request_transform_before/),
    });
  });
});
