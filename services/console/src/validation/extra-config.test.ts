import { expect, test } from '@jest/globals';
import { checkExtraConfig } from './extra-config.ts';

const faults = (config: Record<string, unknown>, of: 'upstream' | 'model' = 'model') => checkExtraConfig(config, of).map(({ field }) => field);

test.each([
  ['passthrough_paths', ['files/*', '/models'], []],
  ['passthrough_methods', ['GET', 'delete']],
  ['async_mode', true, false],
  ['delta', { async_mode: true }, { async_mode: null }, { other: 1 }, {}],
  ['dashscope', { async_mode: false }],
  ['auth', 'none', 'Bearer', 'x-vendor-key'],
  ['cache_injection', 'on', 'off'],
  ['beta_flags', 'all', ['files-api-2025-04-14'], []],
  ['body_shape', 'nova', 'chat'],
  ['voices', { alloy: 'Cherry' }, {}],
  ['guardrail', { guardrailIdentifier: 'g' }],
  ['additional_model_request_fields', { deep: { er: [1] } }],
  ['tool_search', 'native'],
  ['api_version', '2023-06-01'],
  ['default_max_tokens', 1],
  ['region', 'eu-west-1'],
])('%s in the shapes that its reader takes', (name, ...values) => {
  for (const value of [...values, null]) expect(faults({ [name]: value })).toEqual([]);
});

test.each([
  ['passthrough_paths', 'ok', { a: 1 }, 1, false],
  ['passthrough_methods', 'GET', { GET: true }],
  ['async_mode', 'yes', 1, 'true'],
  ['delta', 'async', [], true],
  ['auth', 7, '', 'two words', true],
  ['cache_injection', 'OFF', false, true],
  ['beta_flags', 'none', 1, {}],
  ['body_shape', 'claude', 1],
  ['voices', 'alloy', ['alloy']],
  ['guardrail', 'g', []],
  ['additional_model_request_fields', []],
  ['tool_search', true, 'off'],
  ['api_version', 'newest', 20_230_601],
  ['default_max_tokens', '5', 0, -1, 1.5],
  ['vision', 'yes', 1],
  ['region', '', 5],
  ['profileArn', 5],
  ['origin', {}],
])('%s in another shape would be ignored: it is refused by name', (name, ...values) => {
  for (const value of values) expect(faults({ [name]: value })).toEqual([`extra_config.${name}`]);
});

test('a fault further in is named by its own path', () => {
  expect(faults({ passthrough_paths: ['ok', 4] })).toEqual(['extra_config.passthrough_paths.1']);
  expect(faults({ passthrough_methods: ['GET', 'TRACE'] })).toEqual(['extra_config.passthrough_methods.1']);
  expect(faults({ delta: { async_mode: 'yes' } })).toEqual(['extra_config.delta.async_mode']);
  expect(faults({ voices: { alloy: 1 } })).toEqual(['extra_config.voices.alloy']);
});

test('a setting is refused where nobody reads it, and names of nobody are kept', () => {
  expect(faults({ context_window: 5, max_output_tokens: 5, vision: true, http2: 'on' }, 'upstream').sort()).toEqual([
    'extra_config.context_window',
    'extra_config.max_output_tokens',
    'extra_config.vision',
  ]);
  expect(faults({ context_window: 5, vision: true, http2: 'on' })).toEqual(['extra_config.http2']);
  expect(faults({ http2: 'yes' }, 'upstream')).toEqual(['extra_config.http2']);
  expect(faults({ own: { deep: [1] }, constructor: 'x' })).toEqual([]);
});
