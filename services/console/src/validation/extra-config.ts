/** What of `extra_config` would be accepted and ignored: values of a shape that their reader does not take, and settings where nobody reads them. */
import { bodyShapeNames, vendorConfigs } from '@model-gateway/contracts';
import { z } from 'zod';
import type { Detail } from '../problem.ts';
import { plainWords } from './plain-words.ts';
import { faultsOf } from './read-input.ts';

type Owner = 'upstream' | 'model';

/** A setting that some reader knows. `of`: the only rows on which it is read. */
interface Setting {
  schema: z.ZodType;
  of?: Owner;
}

const text = (what: string) => z.string({ error: `must be ${what}` }).min(1);
const word = (pattern: RegExp, what: string) => z.string({ error: `must be ${what}` }).regex(pattern, `must be ${what}`);
const oneOf = (...words: [string, ...string[]]) => z.enum(words, { error: `must be ${words.join(' or ')}` });
const flag = z.boolean({ error: 'must be true or false' });
const object = z.record(z.string(), z.json(), { error: 'must be an object' });
const tokens = z.custom<number>((value) => Number.isSafeInteger(value) && Number(value) > 0, 'must be a whole number of tokens above 0');

/** Every setting that is read by its name. Others are kept as they are: they belong to the admin. */
const settings: Readonly<Record<string, Setting>> = {
  additional_model_request_fields: { schema: object },
  api_version: { schema: word(/^\d{4}-\d{2}-\d{2}[\w.-]{0,30}$/, 'a version of the messages API, as 2023-06-01') },
  async_mode: { schema: flag },
  auth: { schema: word(/^[A-Za-z0-9-]{1,64}$/, 'bearer, none or the name of a header') },
  beta_flags: { schema: z.union([z.literal('all'), z.array(z.string())], { error: 'must be a list of flags, or all' }) },
  body_shape: { schema: oneOf(...bodyShapeNames) },
  cache_injection: { schema: oneOf('on', 'off') },
  context_window: { schema: tokens, of: 'model' },
  default_max_tokens: { schema: tokens },
  guardrail: { schema: object },
  http2: { schema: oneOf('on', 'off'), of: 'upstream' },
  input_type: { schema: text('a text') },
  max_output_tokens: { schema: tokens, of: 'model' },
  origin: { schema: text('a text') },
  passthrough_methods: {
    schema: z.array(word(/^(?:post|get|head|put|patch|delete)$/i, 'POST, GET, HEAD, PUT, PATCH or DELETE'), { error: 'must be a list of methods, as ["GET"]' }),
  },
  passthrough_paths: { schema: z.array(text('a path, as files/*'), { error: 'must be a list of paths, as ["files/*"]' }) },
  profileArn: { schema: text('a text') },
  profile_arn: { schema: text('a text') },
  region: { schema: text('a text') },
  tool_search: { schema: oneOf('native') },
  vision: { schema: flag, of: 'model' },
  voices: {
    schema: z.record(z.string(), text("the upstream's name of the voice"), { error: 'must be an object: voice of the caller → voice of the upstream' }),
  },
  ...Object.fromEntries(vendorConfigs.map((name) => [name, { schema: z.looseObject({ async_mode: flag.nullish() }, { error: 'must be an object' }) }])),
};

/** null in a setting means that nothing is set. */
export function checkExtraConfig(config: Readonly<Record<string, unknown>> | null, of: Owner): Detail[] {
  return Object.entries(settings).flatMap(([name, setting]) => {
    const value = config && Object.hasOwn(config, name) ? config[name] : null;
    return value === null || value === undefined ? [] : checkSetting(`extra_config.${name}`, setting, value, of);
  });
}

function checkSetting(field: string, { schema, of: owner }: Setting, value: unknown, of: Owner): Detail[] {
  if (owner !== undefined && owner !== of) return [{ field, message: `is read of ${owner}s alone: enter it there` }];
  const { error } = schema.safeParse(value, { error: plainWords });
  return error ? faultsOf(error, field) : [];
}
