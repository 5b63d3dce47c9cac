/** What headers repeat of bodies, which messages are read, and how requests are put into the terms of the other era. */
import { describe, expect, test } from '@jest/globals';
import { IncomingError, readIncoming } from '../src/endpoint/incoming.ts';
import { adaptResult } from '../src/endpoint/relay.ts';
import { decodeHeaderValue, encodeHeaderValue } from '../src/protocol/header-values.ts';
import { readMessage } from '../src/protocol/json-rpc.ts';
import { paramHeaderFault, paramHeaders, readParamHeaders } from '../src/protocol/param-headers.ts';
import { metaKeys } from '../src/protocol/versions.ts';

describe('header values', () => {
  test.each(['plain', 'with space', 'naïve', '日本', '', ' edge ', '=?base64?AAAA?=', 'a\r\nb', 'tab\there'])('%j survives', (value) => {
    const sent = encodeHeaderValue(value);
    expect(sent).toMatch(/^[\x20-\x7e\t]+$/);
    expect(decodeHeaderValue(sent)).toBe(value);
  });

  test('what is no base64 of UTF-8 is refused', () => {
    for (const sent of ['=?base64?*?=', '=?base64?A?=', '=?base64?/w==?=']) expect(decodeHeaderValue(sent)).toBeNull();
  });
});

test('a header of spaces costs what its length does', () => {
  const sent = `a${' '.repeat(100_000)}b`;
  // Of the processor, not of the clock: others may be at work.
  const began = process.cpuUsage();
  expect(decodeHeaderValue(` \t${sent} \t`)).toBe(sent);
  expect(process.cpuUsage(began).user / 1_000_000).toBeLessThan(5);
});

describe('arguments repeated in headers', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      deep: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'Count' } } },
    },
  };

  test('are found at the end of chains of properties, and computed', () => {
    const wanted = readParamHeaders(schema)!;
    expect(wanted.map(({ name }) => name)).toEqual(['Region', 'Count']);
    expect(paramHeaders(wanted, { region: 'eu', deep: { n: 3 } })).toEqual({ 'mcp-param-region': 'eu', 'mcp-param-count': '3' });
    expect(paramHeaders(wanted, { region: null })).toEqual({});
  });

  test('must say what the body does', () => {
    const wanted = readParamHeaders(schema)!;
    const args = { region: 'ü', deep: { n: 3 } };
    const headers = { 'mcp-param-region': encodeHeaderValue('ü'), 'mcp-param-count': '3.0' };
    expect(paramHeaderFault(wanted, args, headers)).toBeNull();
    expect(paramHeaderFault(wanted, args, { ...headers, 'mcp-param-count': '4' })).toMatch(/Count/);
    expect(paramHeaderFault(wanted, args, { 'mcp-param-count': '3' })).toMatch(/Region is missing/);
  });

  test.each([
    ['of numbers', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['of objects', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
    ['at the root', { 'x-mcp-header': 'A', type: 'string' }],
    ['in elements', { properties: { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } } }],
    ['in a choice', { anyOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] }],
    ['given twice', { properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } } }],
    ['that are no token', { properties: { a: { type: 'string', 'x-mcp-header': 'A b' } } }],
  ])('marks %s make a tool invalid', (_name, schema) => {
    expect(readParamHeaders(schema)).toBeNull();
  });

  test('a property may have the mark’s name', () => {
    expect(readParamHeaders({ properties: { 'x-mcp-header': { type: 'string' } } })).toEqual([]);
  });
});

describe('messages', () => {
  test('are read as far as needed, the rest as it was written', () => {
    expect(readMessage(Buffer.from('{"jsonrpc":"2.0", "id": 1.0, "result": {"a": 1.0,  "b":9007199254740993}}'))).toEqual({
      kind: 'result',
      id: '1.0',
      result: '{"a": 1.0,  "b":9007199254740993}',
    });
    for (const text of ['{}', '[]', '1', '{"jsonrpc":"1.0","id":1,"method":"x"}', '{"jsonrpc":"2.0","id":{},"method":"x"}', '{"jsonrpc":"2.0","id":1}'])
      expect([text, readMessage(Buffer.from(text))]).toEqual([text, null]);
  });

  const meta = { [metaKeys.version]: '2026-07-28', [metaKeys.capabilities]: {} };
  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
  const body = (parts: object) => Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', ...parts }));
  const codeOf = (bytes: Buffer, headers: Record<string, string>): number | string => {
    try {
      return readIncoming(bytes, headers).era;
    } catch (error) {
      return error instanceof IncomingError ? error.error.code : 'defect';
    }
  };

  test.each<[string, object, Record<string, string>, number | string]>([
    ['without a revision', {}, {}, 'session'],
    ['of a known revision with sessions', {}, { 'mcp-protocol-version': '2025-06-18' }, 'session'],
    ['of the newer revision', { params: { _meta: meta } }, modern, 'modern'],
    ['whose header alone names it', {}, modern, -32602],
    ['whose body alone names it', { params: { _meta: meta } }, { 'mcp-method': 'tools/list' }, -32020],
    ['with two revisions', { params: { _meta: meta } }, { ...modern, 'mcp-protocol-version': '2025-11-25' }, -32020],
    [
      'of a revision to come',
      { params: { _meta: { ...meta, [metaKeys.version]: '2030-01-01' } } },
      { ...modern, 'mcp-protocol-version': '2030-01-01' },
      -32022,
    ],
    ['without capabilities', { params: { _meta: { [metaKeys.version]: '2026-07-28' } } }, modern, -32602],
    ['without Mcp-Method', { params: { _meta: meta } }, { 'mcp-protocol-version': '2026-07-28' }, -32020],
    ['with another Mcp-Method', { params: { _meta: meta } }, { ...modern, 'mcp-method': 'ping' }, -32020],
    ['without Mcp-Name', { method: 'tools/call', params: { name: 'x', _meta: meta } }, { ...modern, 'mcp-method': 'tools/call' }, -32020],
    ['with another Mcp-Name', { method: 'tools/call', params: { name: 'x', _meta: meta } }, { ...modern, 'mcp-method': 'tools/call', 'mcp-name': 'y' }, -32020],
    [
      'with its Mcp-Name in base64',
      { method: 'tools/call', params: { name: 'ü', _meta: meta } },
      { ...modern, 'mcp-method': 'tools/call', 'mcp-name': encodeHeaderValue('ü') },
      'modern',
    ],
    ['initialize with the newer header', { method: 'initialize', params: {} }, { 'mcp-protocol-version': '2026-07-28' }, -32020],
    ['initialize in the newer terms', { method: 'initialize', params: { _meta: meta } }, { ...modern, 'mcp-method': 'initialize' }, 'modern'],
    ['of a revision that never was', {}, { 'mcp-protocol-version': '1.0' }, -32000],
  ])('a request %s', (_name, parts, headers, outcome) => {
    expect(codeOf(body(parts), headers)).toBe(outcome);
  });

  test('batches belong to one revision', () => {
    const batch = Buffer.from('[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]');
    expect(readIncoming(batch, { 'mcp-protocol-version': '2025-03-26' }).messages).toHaveLength(2);
    expect(codeOf(batch, { 'mcp-protocol-version': '2025-11-25' })).toBe(-32600);
    expect(codeOf(Buffer.from('[]'), {})).toBe(-32600);
    expect(codeOf(Buffer.from('['), {})).toBe(-32700);
  });

  test('what is no UTF-8 is unreadable, alone and in a batch', () => {
    const message = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\xff"}}';
    for (const text of [message, `[${message}]`]) expect(codeOf(Buffer.from(text, 'latin1'), { 'mcp-protocol-version': '2025-03-26' })).toBe(-32700);
  });
});

describe('results in the other era’s terms', () => {
  test('newer callers are given what they must have; numbers stay as they were written', () => {
    expect(adaptResult('{"tools":[],"n":1.0}', 'tools/list', 'session', 'modern')).toBe(
      '{"tools":[],"n":1.0,"resultType":"complete","ttlMs":0,"cacheScope":"private"}',
    );
    expect(adaptResult('{"content":[]}', 'tools/call', 'session', 'modern')).toBe('{"content":[],"resultType":"complete"}');
  });

  test('older callers do not see what they cannot know', () => {
    expect(adaptResult('{"content":[],"resultType":"complete"}', 'tools/call', 'modern', 'session')).toBe('{"content":[]}');
    expect(JSON.parse(adaptResult('{"resultType":"input_required","inputRequests":{}}', 'tools/call', 'modern', 'session'))).toMatchObject({ isError: true });
  });
});
