/** Every field of the configuration file is described, in each language, with an example that it takes; the page and the API's document say the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import en from '@model-gateway/contracts/field-texts/en.json' with { type: 'json' };
import zh from '@model-gateway/contracts/field-texts/zh.json' with { type: 'json' };
import { exampleOf, type FieldShape, fieldShapes, fieldsOf, shapeSchemas, textOf } from '@model-gateway/contracts/fields';
import type { z } from 'zod';
import { describeGatewayFile } from '../src/transfer/describe-file.ts';
import { type OpenApiDocument, resolveReferences } from './document.ts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

const shapes = Object.entries(shapeSchemas) as [FieldShape, z.ZodObject][];

test.each(shapes)('%s: each field has a text, and no text is left over', (shape, schema) => {
  expect(fieldsOf(shape).sort()).toEqual(Object.keys(schema.shape).sort());
});

test('both languages have the same fields, and Chinese is Chinese', () => {
  for (const shape of fieldShapes) {
    expect(Object.keys(zh[shape])).toEqual(Object.keys(en[shape]));
    for (const text of Object.values(zh[shape])) expect([shape, text]).toEqual([shape, expect.stringMatching(/\p{Script=Han}|^HTTP/u)]);
    for (const text of Object.values(en[shape])) expect([shape, text]).toEqual([shape, expect.stringMatching(/^.+[.]$/)]);
  }
});

test.each(shapes)('%s: its examples are taken, and what is no choice has one', (shape, schema) => {
  for (const [field, inside] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const example = exampleOf(shape, field);
    if (example !== undefined) expect([shape, field, inside.safeParse(example).error?.issues]).toEqual([shape, field, undefined]);
    // `true` and a word of an enumeration need no example.
    const isChoice = inside.safeParse(true).success || inside.safeParse('a word that is no choice').error?.issues[0]?.code === 'invalid_value';
    if (!isChoice) expect([shape, field, example]).toEqual([shape, field, expect.anything()]);
  }
});

test('docs/gateway-file.md is what the schemas say', () => {
  expect(readFileSync(join(import.meta.dirname, '../../../docs/gateway-file.md'), 'utf8')).toBe(describeGatewayFile());
});

let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
});
afterAll(() => harness?.close());

const resources = {
  Upstream: 'upstream',
  Model: 'model',
  LoadBalancer: 'load_balancer',
  KeyGroup: 'key_group',
  AccessKey: 'access_key',
  Price: 'price',
  SearchProvider: 'search_provider',
  McpServer: 'mcp_server',
  AlertChannel: 'alert_channel',
} as const;

test('the document names its schemas and says the same of each field', async () => {
  const { body } = await harness.call('GET', `${api}/openapi.json`);
  const document = body as OpenApiDocument & { components: { schemas: Record<string, { properties: Record<string, { description?: string }> }> } };
  const { schemas } = document.components;
  for (const [name, shape] of Object.entries(resources) as [string, FieldShape][]) {
    for (const form of [name, `${name}Input`, `${name}Change`]) {
      for (const field of fieldsOf(shape)) {
        const { description } = schemas[form]?.properties[field] ?? {};
        expect([form, field, description?.startsWith(textOf(shape, field) ?? '-')]).toEqual([form, field, true]);
      }
    }
    expect(JSON.stringify(schemas[`${name}Page`])).toContain(`"#/components/schemas/${name}"`);
  }
  // Any object at all is no named type: not that of an answer which happens to be one.
  expect(JSON.stringify(schemas)).not.toContain('ReadOpenapiAnswer"}');
  expect(schemas['Model']?.properties['extra_config']).toMatchObject({ anyOf: [{ type: 'object', additionalProperties: {} }, { type: 'null' }] });
  expect(schemas['SearchConfig']?.properties['max_uses']?.description).toBe(textOf('search_config', 'max_uses'));
  // Nothing is referred to that is not there, and every body and answer has a name.
  resolveReferences(document.paths, document);
  type Part = { content?: Record<string, { schema: object }> };
  type Operation = { operationId: string; requestBody?: Part; responses: Record<string, Part> };
  for (const operations of Object.values(body.paths) as Record<string, Operation>[]) {
    for (const { operationId, requestBody, responses } of Object.values(operations)) {
      const contents = [requestBody, ...Object.values(responses)].flatMap((part) => part?.content?.['application/json'] ?? []);
      for (const { schema } of contents) expect([operationId, Object.keys(schema)]).toEqual([operationId, ['$ref']]);
    }
  }
});
