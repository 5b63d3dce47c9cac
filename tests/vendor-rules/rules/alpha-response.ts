/** OpenAI's Responses. */
import { responses as fields, unknownKeys } from '../fields.ts';
import { first, isGiven, type Json, list, objectOf, readDataUrl, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, findArrayWithoutItems, findNotStrict, pixel, rootUnion, strictWeather, weather } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
const itemsOf = (body: Json): Json[] => (Array.isArray(body['input']) ? list(body['input']) : []);
const kindOf = (item: Json): string => textOf(item['type']) || (isGiven(item['role']) ? 'message' : '');
const partsOf = (item: Json): Json[] => (Array.isArray(item['content']) ? list(item['content']) : []);
const functionsOf = (body: Json): { at: number; tool: Json }[] =>
  list(body['tools']).flatMap((tool, at) => (tool['type'] === 'function' ? [{ at, tool }] : []));
const outputs: Record<string, string> = { function_call: 'function_call_output', custom_tool_call: 'custom_tool_call_output' };
const prefixes: Record<string, string> = { message: 'msg', function_call: 'fc', reasoning: 'rs', custom_tool_call: 'ctc' };
/** Stored turns hold what this body does not. */
const goesOn = (body: Json): boolean => isGiven(body['previous_response_id']) || isGiven(body['conversation']);
const alwaysThinks = /^(?:o\d|gpt-5(?:-(?!chat)|$)|codex)/;

const hello = [{ role: 'user', content: 'hello' }];
const call = (call_id = 'call_1', more: Json = {}): Json => ({ type: 'function_call', call_id, name: 'weather', arguments: '{"city":"Paris"}', ...more });
const output = (call_id = 'call_1', value: unknown = 'sunny'): Json => ({ type: 'function_call_output', call_id, output: value });
const tool = (parameters: unknown = weather, name = 'weather'): Json => ({ type: 'function', name, parameters, strict: false });
const reasoning = (more: Json = {}): Json => ({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAABhello', ...more });

const rows: Row[] = [
  {
    id: 'alpha_response.unknown-field',
    what: 'Fields that the reference does not list are refused by name',
    source: 'https://github.com/teabranch/open-responses-server/issues/41',
    date: '2025-06-29',
    check: ({ body }) => first(unknownKeys(body, fields.request), (key) => bad(`Unknown parameter: '${key}'.`, { param: key, code: 'unknown_parameter' })),
    refused: [{ body: { input: 'hello', max_tokens: 10 } }],
    accepted: [{ body: { input: 'hello', max_output_tokens: 100 } }],
  },
  {
    id: 'alpha_response.background-window',
    what: 'A later window without a background run, or with a stream',
    source: 'https://github.com/openai/openai-node/compare/v7.57.0...v7.58.0',
    date: '2026-11-17',
    wordsUnverified: true,
    check({ body }) {
      const { completion_window: window } = objectOf(body['background_options']);
      return (window === '2h' || window === '8h') && (body['background'] !== true || body['stream'] === true)
        ? bad('This completion window requires background: true and no stream.', { param: 'background_options.completion_window' })
        : null;
    },
    refused: [{ body: { input: 'hello', background_options: { completion_window: '2h' } } }],
    accepted: [{ body: { input: 'hello', background: true, background_options: { completion_window: '8h' } } }],
  },
  {
    id: 'alpha_response.reasoning-field',
    what: 'Fields of `reasoning` that the reference does not list',
    source: 'https://github.com/bestruirui/octopus/issues/31',
    date: '2025-12-23',
    check: ({ body }) =>
      first(
        Object.keys(objectOf(body['reasoning'])).filter(
          (key) => !['effort', 'summary', 'generate_summary', 'context', 'mode', 'input_transformations'].includes(key),
        ),
        (key) => bad(`Unknown parameter: 'reasoning.${key}'.`, { param: `reasoning.${key}`, code: 'unknown_parameter' }),
      ),
    refused: [{ body: { input: 'hello', reasoning: { max_tokens: 1024 } } }],
    accepted: [{ body: { input: 'hello', reasoning: { effort: 'low', summary: 'auto' } } }],
  },
  {
    id: 'alpha_response.unknown-item-field',
    what: 'Fields of items that the reference does not list; the status of reasoning is one',
    source: 'https://github.com/1jehuang/jcode/issues/1028',
    date: '2026-08-21',
    check: ({ body }) =>
      first(itemsOf(body), (item, at) => {
        const known = fields.item[kindOf(item)];
        const [key] = known ? unknownKeys(item, known) : [];
        return key === undefined ? null : bad(`Unknown parameter: 'input[${at}].${key}'.`, { param: `input[${at}].${key}`, code: 'unknown_parameter' });
      }),
    refused: [
      { body: { input: [{ ...hello[0], reasoning_content: 'x' }] } },
      { body: { input: [...hello, reasoning({ status: 'completed' }), call(), output()] } },
    ],
    accepted: [{ body: { input: [...hello, call(), output()] } }],
  },
  {
    id: 'alpha_response.orphan-output',
    what: 'An output whose call is neither in the input nor in the stored turns',
    source: 'https://github.com/continuedev/continue/issues/10092',
    date: '2026-02-01',
    check({ body }) {
      if (goesOn(body)) return null;
      const called = new Set<unknown>();
      return first(itemsOf(body), (item) => {
        if (outputs[kindOf(item)]) called.add(item['call_id']);
        return Object.values(outputs).includes(kindOf(item)) && !called.has(item['call_id'])
          ? bad(`No tool call found for function call output with call_id ${item['call_id']}.`, { param: 'input' })
          : null;
      });
    },
    refused: [{ body: { input: [...hello, output()] } }],
    accepted: [{ body: { input: [...hello, call(), output()] } }, { body: { input: [output()], previous_response_id: 'resp_1' } }],
  },
  {
    id: 'alpha_response.unanswered-call',
    what: 'A call without its output',
    source: 'https://github.com/openai/openai-agents-python/issues/673',
    date: '2025-05-10',
    check({ body }) {
      const items = itemsOf(body);
      const answered = new Set(items.filter((item) => Object.values(outputs).includes(kindOf(item))).map((item) => item['call_id']));
      return first(items, (item) =>
        outputs[kindOf(item)] && !answered.has(item['call_id']) ? bad(`No tool output found for function call ${item['call_id']}.`, { param: 'input' }) : null,
      );
    },
    refused: [{ body: { input: [...hello, call()] } }],
    accepted: [{ body: { input: [...hello, call(), output()] } }],
  },
  {
    id: 'alpha_response.call-id-length',
    what: 'Ids of calls past 64 characters',
    source: 'https://github.com/AnswerDotAI/fastllm/issues/45',
    date: '2026-06-08',
    check: ({ body }) =>
      first(itemsOf(body), (item, at) => {
        const { length } = textOf(item['call_id']);
        return length <= 64
          ? null
          : bad(`Invalid 'input[${at}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`, {
              param: `input[${at}].call_id`,
              code: 'string_above_max_length',
            });
      }),
    refused: [{ body: { input: [...hello, call('x'.repeat(65)), output('x'.repeat(65))] } }],
    accepted: [{ body: { input: [...hello, call('x'.repeat(64)), output('x'.repeat(64))] } }],
  },
  {
    id: 'alpha_response.item-id',
    what: 'Ids of items that do not begin as the kind wants it',
    source: 'https://github.com/Wei-Shaw/sub2api/issues/3981',
    date: '2026-07-10',
    check: ({ body }) =>
      first(itemsOf(body), (item, at) => {
        const prefix = prefixes[kindOf(item)];
        const id = item['id'];
        return prefix === undefined || typeof id !== 'string' || id.startsWith(prefix)
          ? null
          : bad(`Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`, { param: `input[${at}].id`, code: 'invalid_value' });
      }),
    refused: [{ body: { input: [...hello, call('call_1', { id: 'call_1' }), output()] } }],
    accepted: [{ body: { input: [...hello, call('call_1', { id: 'fc_1' }), output()] } }],
  },
  {
    id: 'alpha_response.unknown-item',
    what: 'Reasoning that is named by an id alone, where nothing of that id is stored',
    source: 'https://github.com/can1357/oh-my-pi/issues/41',
    date: '2026-02-12',
    check: ({ body, account }, memory) =>
      first(itemsOf(body), (item) => {
        const byIdAlone = kindOf(item) === 'item_reference' || (kindOf(item) === 'reasoning' && isGiven(item['id']) && !isGiven(item['encrypted_content']));
        return byIdAlone && !memory.isStoredItem(item['id'], account)
          ? {
              status: 404,
              message: `Item with id '${item['id']}' not found.${body['store'] === false ? ' Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.' : ''}`,
              param: 'input',
            }
          : null;
      }),
    refused: [{ newcomer: true, body: { store: false, input: [...hello, reasoning({ encrypted_content: null }), call(), output()] } }],
    accepted: [{ body: { input: [...hello, reasoning(), call(), output()] } }],
  },
  {
    id: 'alpha_response.encrypted-content',
    what: 'Encrypted reasoning that it did not make for this account',
    source: 'https://github.com/openai/codex/issues/8145',
    date: '2025-12-16',
    check: ({ body, account }, memory) =>
      first(itemsOf(body), (item) => {
        const signature = item['encrypted_content'];
        if (kindOf(item) !== 'reasoning' || !isGiven(signature) || memory.isOwnSignature(signature, account)) return null;
        const text = textOf(signature);
        return bad(`The encrypted content ${text.slice(0, 4)}...${text.slice(-4)} could not be verified.`, { code: 'invalid_encrypted_content' });
      }),
    refused: [{ newcomer: true, body: { input: [...hello, reasoning(), call(), output()] } }],
    accepted: [{ body: { input: [...hello, reasoning(), call(), output()] } }],
  },
  {
    id: 'alpha_response.reasoning-alone',
    what: 'Reasoning without the item that it led to',
    source: 'https://github.com/continuedev/continue/issues/8933',
    date: '2025-11-28',
    check({ body }) {
      const items = itemsOf(body);
      return first(items, (item, at) => {
        if (kindOf(item) !== 'reasoning') return null;
        const next = items[at + 1];
        const led =
          next !== undefined && (next['role'] === 'assistant' || !['message', 'function_call_output', 'custom_tool_call_output', ''].includes(kindOf(next)));
        return led ? null : bad(`Item '${item['id']}' of type 'reasoning' was provided without its required following item.`, { param: 'input' });
      });
    },
    refused: [{ body: { input: [...hello, reasoning(), ...hello] } }],
    accepted: [{ body: { input: [...hello, reasoning(), call(), output()] } }],
  },
  {
    id: 'alpha_response.previous-response',
    what: 'An earlier response that it never stored',
    source: 'https://github.com/Soju06/codex-lb/issues/853',
    date: '2026-05-29',
    check: ({ body, account }, memory) =>
      isGiven(body['previous_response_id']) && !memory.isStoredResponse(body['previous_response_id'], account)
        ? bad(`Previous response with id '${body['previous_response_id']}' not found.`, { param: 'previous_response_id', code: 'previous_response_not_found' })
        : null,
    refused: [{ newcomer: true, body: { input: 'go on', previous_response_id: 'resp_1' } }],
    accepted: [{ body: { input: 'go on', previous_response_id: 'resp_1' } }],
  },
  {
    id: 'alpha_response.least-output',
    what: 'A limit of fewer than 16 tokens',
    source: 'https://github.com/Menci/Floway/pull/440',
    date: '2026',
    check: ({ body }) =>
      typeof body['max_output_tokens'] === 'number' && body['max_output_tokens'] < 16
        ? bad(`Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${body['max_output_tokens']} instead.`, {
            param: 'max_output_tokens',
            code: 'integer_below_min_value',
          })
        : null,
    refused: [{ body: { input: 'hello', max_output_tokens: 1 } }],
    accepted: [{ body: { input: 'hello', max_output_tokens: 16 } }],
  },
  {
    id: 'alpha_response.function-name',
    what: 'Names of functions past 64 characters, or with others than letters, digits, _ and -',
    source: 'https://platform.openai.com/docs/api-reference/responses/create (tools)',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      first(functionsOf(body), ({ at, tool: one }) => {
        const name = textOf(one['name']);
        const param = `tools[${at}].name`;
        if (name.length > 64)
          return bad(`Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`, {
            param,
            code: 'string_above_max_length',
          });
        return /^[a-zA-Z0-9_-]+$/.test(name)
          ? null
          : bad(`Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, {
              param,
              code: 'invalid_value',
            });
      }),
    refused: [{ body: { input: 'hello', tools: [tool(weather, 'get.weather')] } }, { body: { input: 'hello', tools: [tool(weather, 'x'.repeat(65))] } }],
    accepted: [{ body: { input: 'hello', tools: [tool(weather, 'get_weather')] } }],
  },
  {
    id: 'alpha_response.schema-root',
    what: "A tool's schema whose root is no plain object, or is a union",
    source: 'https://github.com/anomalyco/opencode/issues/37916',
    date: '2026-07-20',
    check: ({ body }) =>
      first(functionsOf(body), ({ at, tool: one }) => {
        const schema = one['parameters'];
        if (!isGiven(schema) || Object.keys(objectOf(schema)).length === 0) return null;
        const more = { param: `tools[${at}].parameters`, code: 'invalid_function_parameters' };
        if (objectOf(schema)['type'] !== 'object')
          return bad(
            `Invalid schema for function '${one['name']}': schema must be a JSON Schema of 'type: "object"', got 'type: "${objectOf(schema)['type'] ?? 'None'}"'.`,
            more,
          );
        return rootUnion(schema) === null
          ? null
          : bad(
              `Invalid schema for function '${one['name']}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`,
              more,
            );
      }),
    refused: [{ body: { input: 'hello', tools: [tool({ ...weather, oneOf: [{ required: ['city'] }] })] } }],
    accepted: [{ body: { input: 'hello', tools: [tool()] } }],
  },
  {
    id: 'alpha_response.array-items',
    what: "Arrays in a tool's schema that do not say what they hold",
    source: 'https://github.com/streamnative/streamnative-mcp-server/issues/26',
    date: '2025-05-13',
    check: ({ body }) =>
      first(functionsOf(body), ({ at, tool: one }) => {
        const path = findArrayWithoutItems(one['parameters']);
        return path === null
          ? null
          : bad(`Invalid schema for function '${one['name']}': In context=(${path.map((key) => `'${key}'`).join(', ')}), array schema missing items.`, {
              param: `tools[${at}].parameters`,
              code: 'invalid_function_parameters',
            });
      }),
    refused: [{ body: { input: 'hello', tools: [tool({ type: 'object', properties: { all: { type: 'array' } } })] } }],
    accepted: [{ body: { input: 'hello', tools: [tool({ type: 'object', properties: { all: { type: 'array', items: {} } } })] } }],
  },
  {
    id: 'alpha_response.strict',
    what: 'Strict functions and formats whose objects allow other properties, or do not require all of theirs',
    source: 'https://github.com/docker/docker-agent/pull/2168',
    date: '2026-03-19',
    check({ body }) {
      const format = objectOf(objectOf(body['text'])['format']);
      const inFormat = format['strict'] === true ? findNotStrict(format['schema']) : null;
      if (inFormat !== null) return bad(`Invalid schema for response_format '${format['name']}': ${inFormat}`, { param: 'text.format.schema' });
      return first(functionsOf(body), ({ at, tool: one }) => {
        const fault = one['strict'] === true ? findNotStrict(one['parameters']) : null;
        return fault === null ? null : bad(`Invalid schema for function '${one['name']}': ${fault}`, { param: `tools[${at}].parameters` });
      });
    },
    refused: [
      { body: { input: 'hello', tools: [{ ...tool(), strict: true }] } },
      { body: { input: 'hello', text: { format: { type: 'json_schema', name: 'x', strict: true, schema: weather } } } },
    ],
    accepted: [{ body: { input: 'hello', tools: [{ ...tool(strictWeather), strict: true }, tool(weather, 'other')] } }],
  },
  {
    id: 'alpha_response.effort-temperature',
    models: /^gpt-(?:5\.\d|[6-9])(?!.*-chat)/,
    what: 'temperature and top_p beside an effort other than none, from 5.1 on',
    source: 'https://platform.openai.com/docs/guides/latest-model (GPT-5 parameter compatibility)',
    date: '2026-02',
    wordsUnverified: true,
    check({ body }) {
      const { effort } = objectOf(body['reasoning']);
      if (!isGiven(effort) || effort === 'none') return null;
      return first(['temperature', 'top_p'], (key) =>
        isGiven(body[key]) && body[key] !== 1 ? bad(`Unsupported parameter: '${key}' is not supported with this model.`, { param: key }) : null,
      );
    },
    refused: [{ modelId: 'gpt-5.2', body: { input: 'hello', temperature: 0.2, reasoning: { effort: 'low' } } }],
    accepted: [
      { modelId: 'gpt-5.2', body: { input: 'hello', temperature: 0.2, reasoning: { effort: 'none' } } },
      { modelId: 'gpt-5.2', body: { input: 'hello', top_p: 0.2 } },
    ],
  },
  {
    id: 'alpha_response.temperature',
    models: alwaysThinks,
    what: 'A temperature, at models that always think',
    source: 'https://github.com/ThinkInAIXYZ/deepchat/issues/655',
    date: '2025-07-29',
    check: ({ body }) =>
      isGiven(body['temperature']) && body['temperature'] !== 1
        ? bad("Unsupported parameter: 'temperature' is not supported with this model.", { param: 'temperature' })
        : null,
    refused: [{ modelId: 'o3', body: { input: 'hello', temperature: 0.2 } }],
    accepted: [{ modelId: 'gpt-4.1', body: { input: 'hello', temperature: 0.2 } }],
  },
  {
    id: 'alpha_response.image-type',
    what: 'Pictures of other types than PNG, JPEG, GIF and WebP',
    source: 'https://github.com/acoyfellow/my-ax/issues/67',
    date: '2026-08-18',
    check: ({ body }) =>
      first(itemsOf(body), (item) =>
        first([...partsOf(item), ...list(item['output'])], (part) => {
          const read = part['type'] === 'input_image' ? readDataUrl(part['image_url']) : null;
          return read === null || /^image\/(?:png|jpe?g|gif|webp)$/.test(read.type)
            ? null
            : bad(
                `The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].`,
                { param: 'input', code: 'invalid_value' },
              );
        }),
      ),
    refused: [{ body: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/bmp;base64,${pixel}` }] }] } }],
    accepted: [{ body: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${pixel}` }] }] } }],
  },
];

export const alphaResponseRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'alpha_response', vendors: ['openai'] }));
