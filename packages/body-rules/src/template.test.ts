import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { accessKeyHash, noFacts, systemPromptHash, type TemplateFacts } from './facts.ts';
import { compileHeaders, headerNameFault, headerValueFault, renderHeaders, safeHeaderValue } from './header-template.ts';
import { compileTemplate, TemplateError } from './template.ts';

const facts = (more: Partial<TemplateFacts> = {}): TemplateFacts => ({
  requestId: 'r-1',
  accessKeyName: 'ada',
  accessKeyGroup: 'team',
  accessKeyHash: () => accessKeyHash('ada'),
  systemPromptHash: () => systemPromptHash('Be kind.'),
  header: (name) => ({ 'x-tenant': 'acme', 'x-blank': '  \t ', authorization: 'Bearer secret', cookie: 'c=1', 'x-api-key': 'k', 'api-key': 'k' })[name],
  ...more,
});
const render = (text: string, more: Partial<TemplateFacts> = {}) => compileTemplate(text).render(facts(more));

describe('a template', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    ['a }} b { c', 'a }} b { c'],
    ['{{request_id}}', 'r-1'],
    ['{{ request_access_key_name }}/{{request_access_key_group}}', 'ada/team'],
    ['{{header:X-Tenant}}', 'acme'],
    ['{{ header : x-tenant }}', 'acme'],
    ['{{header:x-none|header:x-blank|request_id}}', 'r-1'],
    ['t-{{header:x-none}}-{{request_id}}', 't--r-1'],
    ['{{system_prompt_hash}}', systemPromptHash('Be kind.')],
    ['{{access_key_hash}}', accessKeyHash('ada')],
  ])('%j gives %j', (text, wanted) => expect(render(text)).toBe(wanted));

  test.each(['{{header:x-none}}', 'Bearer {{header:x-none|header:x-blank}}', '{{header:x-none}}{{header:x-blank}}'])(
    '%j is nothing when all is empty',
    (text) => expect(render(text)).toBeUndefined(),
  );

  test.each(['authorization', 'Authorization', 'cookie', 'X-Api-Key', 'api-key', 'proxy-authorization', 'x-goog-api-key', 'x-gamma-api-key'])(
    '%s is never shown',
    (name) => {
      expect(render(`{{header:${name}}}`, { header: () => 'secret' })).toBeUndefined();
      expect(render(`{{header:${name}|request_id}}`, { header: () => 'secret' })).toBe('r-1');
    },
  );

  test.each([
    '{{',
    '{{request_id',
    '{{}}',
    '{{nothing}}',
    '{{request_id|}}',
    '{{header:}}',
    '{{header: a b}}',
    '{{__proto__}}',
    '{{header}}',
    `{{${'request_id|'.repeat(70)}request_id}}`,
  ])('%j is refused', (text) => expect(() => compileTemplate(text)).toThrow(TemplateError));

  test('costly variables are read only by templates that hold them', () => {
    let read = 0;
    const more = { systemPromptHash: () => `h${++read}` };
    expect(render('{{request_id|system_prompt_hash}}', more)).toBe('r-1');
    expect(read).toBe(0);
    expect(render('{{system_prompt_hash}}', more)).toBe('h1');
  });

  test('hashes are those of the specification', () => {
    expect(systemPromptHash('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(accessKeyHash('')).toBe('47DEQpj8HBSa+/TImW+5JA==');
  });
});

describe('headers', () => {
  const into = (custom: Record<string, string>, userAgent: string | null, more: Partial<TemplateFacts> = {}, before: Record<string, string> = {}) => {
    const headers = { ...before };
    renderHeaders(compileHeaders(custom, userAgent), () => facts(more), headers);
    return headers;
  };

  test('override what was there, by lower-case name; an empty one leaves it', () => {
    const before = { authorization: 'Bearer ours', 'x-kept': 'yes' };
    expect(into({ Authorization: 'Basic x', 'X-Kept': '{{header:x-none}}' }, 'agent/{{request_id}}', {}, before)).toEqual({
      authorization: 'Basic x',
      'x-kept': 'yes',
      'user-agent': 'agent/r-1',
    });
    expect(into({ 'User-Agent': 'mine' }, 'other')).toEqual({ 'user-agent': 'mine' });
    expect(into({ 'User-Agent': ' ', 'X-Kept': '' }, 'other', {}, { 'x-kept': 'yes' })).toEqual({ 'user-agent': 'other', 'x-kept': 'yes' });
  });

  test('facts are not gathered for fixed headers', () => {
    renderHeaders(
      compileHeaders({ 'x-a': '1' }, 'agent'),
      () => {
        throw new Error('gathered');
      },
      {},
    );
    const headers = {};
    renderHeaders(compileHeaders({ 'x-a': '{{request_id}}', 'x-b': '', 'x-c': ' ' }, ''), () => noFacts, headers);
    expect(headers).toEqual({});
  });

  test.each([
    ['a\r\nx-evil: 1', 'ax-evil: 1'],
    ['clé', 'cl%C3%A9'],
    ['名前', '%E5%90%8D%E5%89%8D'],
    ['😀!', '%F0%9F%98%80!'],
    ['50% \ud83d', '50%'],
    ['é'.repeat(5000), '%C3%A9'.repeat(1365)],
    ['\u0000\u007f\u0085', ''],
    [' \t a ', 'a'],
    ['x'.repeat(9000), 'x'.repeat(8192)],
  ])('the value %j is sent as %j', (value, sent) => expect(safeHeaderValue(value)).toBe(sent));

  test.each([
    [Buffer.from('名 é').toString('latin1'), '名 é', '%E5%90%8D %C3%A9'],
    ['caf\u00e9', 'caf\u00e9', 'caf%C3%A9'],
    ['plain', 'plain', 'plain'],
  ])('a header of the caller as UTF-8 where it is: %j', (came, text, sent) => {
    const template = compileTemplate('{{header:x-name}}');
    const known = facts({ header: () => came });
    expect(template.render(known)).toBe(text);
    expect(safeHeaderValue(template.render(known))).toBe(sent);
  });

  test('whatever a caller sends, one line of ASCII leaves', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(safeHeaderValue(value)).toMatch(/^[\t\x20-\x7e]{0,8192}$/);
      }),
    );
  });

  test.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'proxy-authorization',
    'Proxy-Connection',
    'TE',
    'upgrade',
    'expect',
    'a b',
    'a:b',
    '',
    'é',
    '__proto__',
  ])('the name %j is refused', (name) => expect(headerNameFault(name)).not.toBeNull());
  test('other names and values are taken, control characters are not', () => {
    expect(['x-a', 'Authorization', 'anthropic-beta'].map(headerNameFault)).toEqual([null, null, null]);
    expect(['', 'a\tb', 'clé', '{{request_id}}'].map(headerValueFault)).toEqual([null, null, null, null]);
    for (const value of ['a\nb', 'a\u0000', '名', '\u0085']) expect(headerValueFault(value)).not.toBeNull();
  });
});
