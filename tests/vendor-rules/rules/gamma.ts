/** Google's generate content. */
import { generateContent as fields } from '../fields.ts';
import { findInSchema, first, isBlank, isGiven, isObject, type Json, list, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, pixel } from './kit.ts';

type Row = Omit<VendorRule, 'protocol'>;
const camel = (key: string): string => key.replace(/([a-z0-9])_([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase());
/** Fields under either spelling. */
const get = (value: Json, key: string): unknown => value[key] ?? value[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
const unknownOf = (value: Json, known: ReadonlySet<string>): string[] => Object.keys(value).filter((key) => !known.has(key) && !known.has(camel(key)));
/** A count may hold the whole request that it counts. */
const requestOf = (body: Json): Json => (isObject(get(body, 'generateContentRequest')) ? objectOf(get(body, 'generateContentRequest')) : body);
/** Whether tokens are counted, of any part of a conversation: the order of turns is that of a prompt, and asked for where one is answered. */
const isCount = (path: string): boolean => /:countTokens(?:\?|$)/.test(path);
const contentsOf = (body: Json): Json[] => {
  const { contents } = requestOf(body);
  return Array.isArray(contents) ? list(contents) : isObject(contents) ? [contents] : [];
};
const partsOf = (content: Json): Json[] => (Array.isArray(content['parts']) ? list(content['parts']) : isObject(content['parts']) ? [content['parts']] : []);
const callsOf = (content: Json): Json[] => partsOf(content).flatMap((part) => (isObject(get(part, 'functionCall')) ? [part] : []));
const responsesOf = (content: Json): Json[] =>
  partsOf(content).flatMap((part) => (isObject(get(part, 'functionResponse')) ? [objectOf(get(part, 'functionResponse'))] : []));
const declarationsOf = (body: Json): { where: string; spec: Json }[] =>
  list(requestOf(body)['tools']).flatMap((tool, at) =>
    list(get(tool, 'functionDeclarations')).map((spec, index) => ({ where: `tools[${at}].function_declarations[${index}]`, spec })),
  );
const signatureOf = (part: Json): unknown => get(part, 'thoughtSignature');
/** Google's own words for a call that another model made. */
const dummies = new Set(['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']);
const gemini3 = /^gemini-(?:[3-9]|\d\d)/;
const unknownName = (name: string, where?: string): string =>
  `Invalid JSON payload received. Unknown name "${name}"${where === undefined ? '' : ` at '${where}'`}: Cannot find field.`;

const hello = [{ role: 'user', parts: [{ text: 'hello' }] }];
const call = (more: Json = {}): Json => ({ functionCall: { name: 'weather', args: { city: 'Paris' } }, ...more });
const response = (name = 'weather'): Json => ({ functionResponse: { name, response: { output: 'sunny' } } });
const loop = (calls: Json[] = [call()], responses: Json[] = [response()]): Json[] => [
  ...hello,
  { role: 'model', parts: calls },
  { role: 'user', parts: responses },
];
const declared = (parameters: unknown, name = 'weather'): Json => ({ contents: hello, tools: [{ functionDeclarations: [{ name, parameters }] }] });
const schema = { type: 'OBJECT', properties: { city: { type: 'STRING' } } };

const thinkingOf = (body: Json): Json => objectOf(get(objectOf(get(requestOf(body), 'generationConfig')), 'thinkingConfig'));
const levelOf = (body: Json): unknown => get(thinkingOf(body), 'thinkingLevel');
/** What moving to it takes, as an aggregator found it in the vendor's own guide. */
const gemini4 = 'https://dev.to/aihubmix/gemini-4-neon-migration-default-high-thinking-400-errors-and-the-65k-cap-45gj';

const rows: Row[] = [
  {
    id: 'gamma.no-contents',
    what: 'A request without contents',
    source: 'https://ai.google.dev/api/generate-content',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      contentsOf(body).length === 0 && !isGiven(requestOf(body)['requests']) && !isGiven(body['content'])
        ? bad('* GenerateContentRequest.contents: contents is not specified\n')
        : null,
    refused: [{ body: { contents: [] } }],
    accepted: [{ body: { contents: hello } }],
  },
  {
    id: 'gamma.unknown-field',
    what: 'Fields that the reference does not list, in the request, in contents, in parts and in the settings',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/97',
    date: '2025',
    check({ body }) {
      const request = requestOf(body);
      if (isGiven(request['requests']) || isGiven(request['content'])) return null;
      const settings = objectOf(get(request, 'generationConfig'));
      return (
        first(unknownOf(request, fields.request), (key) => bad(unknownName(key))) ??
        first(unknownOf(settings, fields.generationConfig), (key) => bad(unknownName(key, 'generation_config'))) ??
        first(
          contentsOf(body),
          (content, at) =>
            first(unknownOf(content, fields.content), (key) => bad(unknownName(key, `contents[${at}]`))) ??
            first(partsOf(content), (part, index) => first(unknownOf(part, fields.part), (key) => bad(unknownName(key, `contents[${at}].parts[${index}]`)))),
        )
      );
    },
    refused: [
      { body: { contents: hello, stream: true } },
      { body: { contents: hello, generationConfig: { max_tokens: 5 } } },
      { body: { contents: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }] } },
    ],
    accepted: [{ body: { contents: hello, generation_config: { max_output_tokens: 50 } } }],
  },
  {
    id: 'gamma.schema-word',
    what: 'Words of JSON Schema that its own subset does not have: $schema, exclusiveMinimum, additionalProperties, const and others',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/97',
    date: '2025',
    check: ({ body }) =>
      first(declarationsOf(body), ({ where, spec }) =>
        findInSchema(spec['parameters'], (one, path) => {
          const [key] = unknownOf(one, fields.schema).filter(
            (word) => word !== 'additionalProperties' && word !== '$defs' && word !== '$ref' && word !== '$id' && word !== '$anchor',
          );
          return key === undefined ? null : bad(unknownName(key, [`${where}.parameters`, ...path].join('.')));
        }),
      ),
    refused: [
      { body: declared({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' }) },
      { body: declared({ type: 'OBJECT', properties: { n: { type: 'INTEGER', exclusiveMinimum: 0 } } }) },
    ],
    accepted: [
      { body: declared(schema) },
      {
        body: {
          contents: hello,
          tools: [
            { functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object', properties: { n: { type: 'integer', exclusiveMinimum: 0 } } } }] },
          ],
        },
      },
    ],
  },
  {
    id: 'gamma.enum-text',
    what: 'Values of an enum that are no texts',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/97',
    date: '2025',
    check: ({ body }) =>
      first(declarationsOf(body), ({ where, spec }) =>
        findInSchema(spec['parameters'], (one, path) => {
          const values = Array.isArray(one['enum']) ? (one['enum'] as unknown[]) : [];
          const at = values.findIndex((value) => typeof value !== 'string');
          return at < 0
            ? null
            : bad(`Invalid value at '${[`${where}.parameters`, ...path].join('.')}.enum[${at}]' (TYPE_STRING), ${JSON.stringify(values[at])}`);
        }),
      ),
    refused: [{ body: declared({ type: 'OBJECT', properties: { n: { type: 'INTEGER', enum: [1, 2] } } }) }],
    accepted: [{ body: declared({ type: 'OBJECT', properties: { n: { type: 'STRING', enum: ['1', '2'] } } }) }],
  },
  {
    id: 'gamma.array-items',
    what: "Arrays in a tool's schema that do not say what they hold",
    source: 'https://github.com/cline/cline/issues/7926',
    date: '2025-12',
    check: ({ body }) =>
      first(declarationsOf(body), ({ where, spec }) =>
        findInSchema(spec['parameters'], (one, path) =>
          /^array$/i.test(textOf(one['type'])) && one['items'] === undefined
            ? bad(`* GenerateContentRequest.${[`${where}.parameters`, ...path].join('.')}.items: missing field.\n`)
            : null,
        ),
      ),
    refused: [{ body: declared({ type: 'OBJECT', properties: { all: { type: 'ARRAY' } } }) }],
    accepted: [{ body: declared({ type: 'OBJECT', properties: { all: { type: 'ARRAY', items: { type: 'STRING' } } } }) }],
  },
  {
    id: 'gamma.required',
    what: 'Required properties that are not among the properties',
    source: 'https://github.com/iBUHub/AIStudioToAPI/issues/154',
    date: '2026-05-05',
    check: ({ body }) =>
      first(declarationsOf(body), ({ where, spec }) =>
        findInSchema(spec['parameters'], (one, path) => {
          const names: unknown[] = Array.isArray(one['required']) ? one['required'] : [];
          const at = names.findIndex((name) => !Object.hasOwn(objectOf(one['properties']), String(name)));
          return at < 0 ? null : bad(`* GenerateContentRequest.${[`${where}.parameters`, ...path].join('.')}.required[${at}]: property is not defined\n`);
        }),
      ),
    refused: [{ body: declared({ ...schema, required: ['country'] }) }],
    accepted: [{ body: declared({ ...schema, required: ['city'] }) }],
  },
  {
    id: 'gamma.type',
    what: 'Properties without a type that are no union either',
    source: 'https://github.com/danny-avila/LibreChat/issues/6971',
    date: '2025-04',
    check: ({ body }) =>
      first(declarationsOf(body), ({ where, spec }) =>
        findInSchema(spec['parameters'], (one, path) =>
          path.length > 0 && !isGiven(one['type']) && !['anyOf', 'any_of', 'oneOf', 'allOf', '$ref'].some((word) => isGiven(one[word]))
            ? bad(
                `* GenerateContentRequest.${[`${where}.parameters`, ...path].join('.')}.type: must be specified when not using one_of, any_of or all_of fields\n`,
              )
            : null,
        ),
      ),
    refused: [{ body: declared({ type: 'OBJECT', properties: { city: { description: 'where' } } }) }],
    accepted: [{ body: declared(schema) }],
  },
  {
    id: 'gamma.function-name',
    what: 'Names of functions that do not begin with a letter or _, or are too long, or hold other signs',
    source: 'https://ai.google.dev/api/caching#FunctionDeclaration',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      first(declarationsOf(body), ({ where, spec }) =>
        /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/.test(textOf(spec['name']))
          ? null
          : bad(
              `* GenerateContentRequest.${where}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`,
            ),
      ),
    refused: [{ body: declared(schema, '1st') }, { body: declared(schema, 'get weather') }, { body: declared(schema, 'f'.repeat(65)) }],
    accepted: [{ body: declared(schema, 'get_weather') }, { body: declared(schema, 'f'.repeat(64)) }],
  },
  {
    id: 'gamma.role',
    what: 'Roles other than user, model and function',
    source: 'https://github.com/the-open-agent/openagent/issues/1666',
    date: '2025-10-19',
    check: ({ body }) =>
      first(contentsOf(body), ({ role }) =>
        role === undefined || role === null || /^(?:user|model|function)$/.test(textOf(role)) ? null : bad('Please use a valid role: user, model.'),
      ),
    refused: [{ body: { contents: [{ role: 'assistant', parts: [{ text: 'hello' }] }] } }],
    accepted: [{ body: { contents: [{ parts: [{ text: 'hello' }] }] } }],
  },
  {
    id: 'gamma.empty-parts',
    what: 'Parts that hold nothing',
    source: 'https://github.com/boldsoftware/sketch/issues/68',
    date: '2025-05-06',
    check: ({ body }) =>
      first(contentsOf(body), (content, at) =>
        first(partsOf(content), (part, index) =>
          Object.keys(part).some(
            (key) => !['thought', 'thoughtSignature', 'thought_signature', 'videoMetadata', 'partMetadata', 'mediaResolution'].includes(key),
          )
            ? null
            : bad(`* GenerateContentRequest.contents[${at}].parts[${index}].data: required oneof field 'data' must have one initialized field\n`),
        ),
      ),
    refused: [{ body: { contents: [{ role: 'user', parts: [{}] }] } }],
    accepted: [{ body: { contents: hello } }],
  },
  {
    id: 'gamma.response-count',
    what: 'Not as many responses as calls in the content after the calls',
    source: 'https://github.com/google-gemini/gemini-cli/issues/17208',
    date: '2026-01-21',
    check({ body, path }) {
      if (isCount(path)) return null;
      const contents = contentsOf(body);
      return first(contents, (content, at) => {
        const calls = callsOf(content).length;
        const next = contents[at + 1];
        return calls > 0 && next !== undefined && responsesOf(next).length !== calls
          ? bad('Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.')
          : null;
      });
    },
    refused: [{ body: { contents: loop([call(), call()]) } }, { body: { contents: [...loop().slice(0, 2), ...hello] } }],
    accepted: [{ body: { contents: loop([call(), call()], [response(), response()]) } }],
  },
  {
    id: 'gamma.response-order',
    what: 'Responses that do not directly follow their calls',
    source: 'https://github.com/GoogleCloudPlatform/generative-ai/pull/368',
    date: '2024-01-30',
    check({ body, path }) {
      if (isCount(path)) return null;
      const contents = contentsOf(body);
      return first(contents, (content, at) => {
        const before = contents[at - 1];
        return responsesOf(content).length > 0 && (before === undefined || callsOf(before).length === 0)
          ? bad('Please ensure that function response turn comes immediately after a function call turn.')
          : null;
      });
    },
    refused: [{ body: { contents: [{ role: 'user', parts: [response()] }] } }],
    // As Gemini CLI counts a result that holds a picture.
    accepted: [{ body: { contents: loop() } }, { path: '/v1beta/models/m:countTokens', body: { contents: [{ role: 'user', parts: [response()] }] } }],
  },
  {
    id: 'gamma.call-order',
    what: 'Calls that follow neither a user turn nor responses',
    source: 'https://github.com/google-gemini/gemini-cli/issues/11814',
    date: '2025-10-23',
    check({ body, path }) {
      if (isCount(path)) return null;
      const contents = contentsOf(body);
      return first(contents, (content, at) => {
        const before = contents[at - 1];
        return callsOf(content).length > 0 && (before === undefined || before['role'] === 'model')
          ? bad('Please ensure that function call turn comes immediately after a user turn or after a function response turn.')
          : null;
      });
    },
    refused: [{ body: { contents: loop().slice(1) } }],
    accepted: [{ body: { contents: loop() } }],
  },
  {
    id: 'gamma.response-name',
    what: 'Responses without a name, or whose response is no object',
    source: 'https://github.com/danny-avila/LibreChat/issues/5525',
    date: '2025-01',
    wordsUnverified: true,
    check: ({ body }) =>
      first(contentsOf(body), (content, at) =>
        first(responsesOf(content), (one, index) => {
          const where = `contents[${at}].parts[${index}].function_response`;
          if (isBlank(one['name'])) return bad(`* GenerateContentRequest.${where}.name: Name cannot be empty.\n`);
          return isObject(one['response'])
            ? null
            : bad(`Invalid value at '${where}.response' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(one['response'])}`);
        }),
      ),
    refused: [
      { body: { contents: loop([call()], [{ functionResponse: { name: 'weather', response: 'sunny' } }]) } },
      { body: { contents: loop([call()], [response('')]) } },
    ],
    accepted: [{ body: { contents: loop() } }],
  },
  {
    id: 'gamma.response-parts',
    models: /^gemini-[12]/,
    what: 'Media beside the response of a function, before Gemini 3',
    source: 'https://github.com/google-gemini/gemini-cli/issues/19436',
    date: '2026-02-18',
    check: ({ body }) =>
      contentsOf(body).some((content) => responsesOf(content).some((one) => isGiven(one['parts'])))
        ? bad(
            'Unable to submit request because `function_response.parts` is not supported for this model. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling',
          )
        : null,
    refused: [
      {
        modelId: 'gemini-2.5-flash',
        body: {
          contents: loop([call()], [{ functionResponse: { name: 'weather', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: 'aa' } }] } }]),
        },
      },
    ],
    accepted: [{ modelId: 'gemini-2.5-flash', body: { contents: loop() } }],
  },
  {
    id: 'gamma.missing-signature',
    models: gemini3,
    what: 'In the running turn, a first call without its thought signature',
    source: 'https://github.com/nanbingxyz/5ire/issues/405',
    date: '2026-02-04',
    check({ body }) {
      const contents = contentsOf(body);
      // What was said before the last text of the user is not looked at.
      const since = contents.findLastIndex((content) => content['role'] !== 'model' && responsesOf(content).length === 0);
      return first(contents, (content, at) => {
        const [firstCall] = callsOf(content);
        return at > since && firstCall && !isGiven(signatureOf(firstCall))
          ? bad(
              `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${objectOf(get(firstCall, 'functionCall'))['name']}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
            )
          : null;
      });
    },
    refused: [{ modelId: 'gemini-3-flash-preview', body: { contents: loop() } }],
    accepted: [
      { modelId: 'gemini-3-flash-preview', body: { contents: loop([call({ thoughtSignature: 'c2lnbmF0dXJl' }), call()], [response(), response()]) } },
      { modelId: 'gemini-3-flash-preview', body: { contents: loop([call({ thoughtSignature: 'skip_thought_signature_validator' })]) } },
      { modelId: 'gemini-2.5-flash', body: { contents: loop() } },
    ],
  },
  {
    id: 'gamma.signature',
    what: 'Thought signatures that it did not make',
    source: 'https://github.com/NoeFabris/opencode-antigravity-auth/issues/368',
    date: '2026-02-16',
    check: ({ body, account }, memory) =>
      first(contentsOf(body), (content) =>
        first(partsOf(content), (part) => {
          const signature = signatureOf(part);
          if (!isGiven(signature) || dummies.has(textOf(signature))) return null;
          // The other alphabet of base64 is read as well.
          const standard = textOf(signature).replaceAll('-', '+').replaceAll('_', '/');
          return memory.isOwnSignature(signature, account) || memory.isOwnSignature(standard, account)
            ? null
            : bad(
                'Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini',
              );
        }),
      ),
    refused: [{ newcomer: true, body: { contents: loop([call({ thoughtSignature: 'c2lnbmF0dXJl' })]) } }],
    accepted: [{ body: { contents: loop([call({ thoughtSignature: 'c2lnbmF0dXJl' })]) } }],
  },
  {
    id: 'gamma.mime-type',
    what: 'image/jpg and other types of media that it does not read',
    source: 'https://github.com/CherryHQ/cherry-studio/issues/3189',
    date: '2025-03',
    check: ({ body }) =>
      first(contentsOf(body), (content) =>
        first(partsOf(content), (part) => {
          const type = textOf(get(objectOf(get(part, 'inlineData')), 'mimeType'));
          return /^image\/(?!png$|jpeg$|webp$|heic$|heif$|gif$|bmp$|avif$)/.test(type) ? bad(`Unsupported MIME type: ${type}`) : null;
        }),
      ),
    refused: [{ body: { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/jpg', data: pixel } }] }] } }],
    accepted: [{ body: { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/jpeg', data: pixel } }] }] } }],
  },
  {
    id: 'gamma.temperature',
    what: 'A temperature past 2',
    source: 'recorded: gamma/err-400-field',
    date: '2025',
    check({ body }) {
      const { temperature } = objectOf(get(requestOf(body), 'generationConfig'));
      return typeof temperature === 'number' && (temperature < 0 || temperature >= 2.0001)
        ? bad(
            `Unable to submit request because it has a temperature value of ${temperature} but the supported range is from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again.`,
          )
        : null;
    },
    refused: [{ body: { contents: hello, generationConfig: { temperature: 1000 } } }],
    accepted: [{ body: { contents: hello, generationConfig: { temperature: 2 } } }],
  },
  {
    id: 'gamma.thinking-both',
    what: 'A budget and a level of thinking together',
    source: 'https://ai.google.dev/gemini-api/docs/thinking',
    date: '2026-05',
    wordsUnverified: true,
    check({ body }) {
      const thinking = thinkingOf(body);
      return isGiven(get(thinking, 'thinkingBudget')) && isGiven(get(thinking, 'thinkingLevel'))
        ? bad('You can only set only one of thinking budget and thinking level.')
        : null;
    },
    refused: [{ body: { contents: hello, generationConfig: { thinkingConfig: { thinkingBudget: 100, thinkingLevel: 'low' } } } }],
    accepted: [{ body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } } }],
  },
  {
    id: 'gamma.thinking-level',
    models: /^gemini-(?:[12]|2\.\d)(?:\D|$)/,
    what: 'A level of thinking, before Gemini 3; its documentation lists levels for 2.5 since August 2026, so nothing may count on the refusal',
    source: 'https://github.com/RooCodeInc/Roo-Code/issues/10700',
    date: '2026-01-13',
    check: ({ body }) => (isGiven(levelOf(body)) ? bad('Thinking level is not supported for this model.') : null),
    refused: [{ modelId: 'gemini-2.5-flash', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } } }],
    accepted: [{ modelId: 'gemini-3-flash-preview', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } } }],
  },
  {
    id: 'gamma.minimal-level',
    models: /^gemini-(?:[3-9].*-pro|3\.[7-9]-flash|[4-9])/,
    what: 'The level minimal, at the pro models, from 3.7 Flash on and from Gemini 4 on',
    source:
      'https://github.com/vellum-ai/vellum-assistant/pull/32687, https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-3-8-flash',
    date: '2026-11',
    check: ({ body }) => (/^minimal$/i.test(textOf(levelOf(body))) ? bad('Thinking level MINIMAL is not supported for this model.') : null),
    refused: [{ modelId: 'gemini-3.1-pro-preview', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'MINIMAL' } } } }],
    accepted: [{ modelId: 'gemini-3-flash-preview', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'minimal' } } } }],
  },
  {
    id: 'gamma.highest-level',
    models: /^gemini-(?:3|4-argon|4-carbon)/,
    what: 'The level xhigh, before Gemini 4 and at its Argon and Carbon',
    source: 'https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-4-hydrogen',
    date: '2026-11',
    wordsUnverified: true,
    check: ({ body }) => (/^xhigh$/i.test(textOf(levelOf(body))) ? bad('Thinking level XHIGH is not supported for this model.') : null),
    refused: [{ modelId: 'gemini-3.8-flash', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'XHIGH' } } } }],
    accepted: [{ modelId: 'gemini-4-hydrogen', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'XHIGH' } } } }],
  },
  {
    id: 'gamma.thinking-budget',
    models: /^gemini-[4-9]/,
    what: 'A budget of thinking, from Gemini 4 on',
    source: gemini4,
    date: '2026-11',
    wordsUnverified: true,
    check: ({ body }) =>
      isGiven(get(thinkingOf(body), 'thinkingBudget')) ? bad('Thinking budget is not supported for this model. Use thinking level.') : null,
    refused: [{ modelId: 'gemini-4-argon', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingBudget: 1024 } } } }],
    accepted: [{ modelId: 'gemini-4-argon', body: { contents: hello, generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } } }],
  },
  {
    id: 'gamma.penalties',
    models: /^gemini-[4-9]/,
    what: 'A penalty, from Gemini 4 on',
    source: gemini4,
    date: '2026-11',
    wordsUnverified: true,
    check({ body }) {
      const config = objectOf(get(requestOf(body), 'generationConfig'));
      const name = ['presencePenalty', 'frequencyPenalty'].find((key) => isGiven(get(config, key)));
      return name === undefined ? null : bad(`${name} is not supported for this model.`);
    },
    refused: [{ modelId: 'gemini-4-hydrogen', body: { contents: hello, generationConfig: { presencePenalty: 0.5 } } }],
    accepted: [{ modelId: 'gemini-3.8-flash', body: { contents: hello, generationConfig: { presencePenalty: 0.5 } } }],
  },
];

export const gammaRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'gamma' }));
