/**
 * Recognizes a row exactly as this version writes it: all columns, no unknown ones, each value in its final form. Any other
 * row is left to the schema (`request-log-message.ts`), which would return an equal copy of a row that is recognized here.
 */
import type { AttemptRecord, RequestRow } from './row.ts';

type Check = (value: unknown) => boolean;

const maxCount = 1e15;
const maxInstant = 8_640_000_000_000_000;

const isText: Check = (value) => typeof value === 'string';
const isMaybeText: Check = (value) => value === null || typeof value === 'string';
const isBounded =
  (max: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= max;
const isMaybeBounded =
  (max: number): Check =>
  (value) =>
    value === null || (typeof value === 'string' && value.length <= max);
const isWord = isMaybeBounded(64);
/** -0 is not a count: it would be stored as 0. */
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxCount && !Object.is(value, -0);
const isMaybeCount: Check = (value) => value === null || isCount(value);
const isWhole: Check = (value) => Number.isSafeInteger(value);
const isListOf =
  (fits: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return false;
    for (const item of value) if (!fits(item)) return false;
    return true;
  };

/** An object with these fields and no others; the first `required` of them must be there. */
function isRecordOf(checks: Readonly<Record<string, Check>>, required = Object.keys(checks).length): Check {
  const names = Object.keys(checks);
  const places = new Map(names.map((name, at) => [name, { fits: checks[name]!, required: at < required }]));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    let found = 0;
    for (const name in value) {
      const field = places.get(name);
      if (!field) return false;
      const content = (value as Record<string, unknown>)[name];
      if (!field.fits(content) && (field.required || content !== undefined)) return false;
      if (field.required) found++;
    }
    return found === required;
  };
}

const isAttempt = isRecordOf(
  {
    upstream: isText,
    key_index: isWhole,
    status: (value) => value === null || isWhole(value),
    error_code: isMaybeText,
    duration_ms: isCount,
    model: isText,
    key: isText,
    message: isBounded(8_192),
  } satisfies Record<keyof AttemptRecord, Check>,
  5,
);
const isHelper = isRecordOf({ model: isText, input: isCount, output: isCount, reasoning: isCount });
const isLoss = isRecordOf({ field: isText, action: isBounded(64), detail: isText });

const isRow = isRecordOf({
  id: (value) => typeof value === 'string' && value.length >= 1 && value.length <= 200,
  client_request_id: isMaybeText,
  started_at: (value) => isWhole(value) && (value as number) >= 0 && (value as number) <= maxInstant,
  authority: (value) => value === 1 || value === 2,
  access_key: isMaybeText,
  key_group: isMaybeText,
  model: isMaybeText,
  requested_model: isMaybeText,
  upstream: isMaybeText,
  upstream_model_id: isMaybeText,
  client_protocol: isWord,
  upstream_protocol: isWord,
  stream: (value) => typeof value === 'boolean',
  status: (value) => isWhole(value) && (value as number) >= 0 && (value as number) <= 999,
  error_code: isMaybeText,
  attempts: isListOf(isAttempt),
  input_tokens: isCount,
  output_tokens: isCount,
  cache_read_tokens: isCount,
  cache_write_tokens: isCount,
  cache_write_1h_tokens: isCount,
  reasoning_tokens: isCount,
  usage_source: isWord,
  cost_micros: isMaybeCount,
  currency: isWord,
  queue_ms: isMaybeCount,
  ttfb_ms: isMaybeCount,
  first_content_ms: isMaybeCount,
  duration_ms: isCount,
  request_bytes: isCount,
  response_bytes: isCount,
  client_ip: isMaybeText,
  user_agent: isMaybeText,
  session_id: isMaybeText,
  losses: isListOf(isLoss),
  pipeline: isListOf(isText),
  routes: isListOf(isText),
  ending: isWord,
  kind: isBounded(64),
  of: isMaybeBounded(200),
  audio_input_tokens: isCount,
  audio_output_tokens: isCount,
  image_input_tokens: isCount,
  image_output_tokens: isCount,
  helpers: isListOf(isHelper),
  turn_id: isMaybeBounded(200),
  path: isMaybeBounded(2048),
  images: isMaybeCount,
  seconds: isMaybeCount,
  characters: isMaybeCount,
  service_tier: isMaybeBounded(40),
} satisfies Record<keyof RequestRow, Check>);

/** Whether the schema would return `value` as it is. */
export function isCompleteRow(value: unknown): value is RequestRow {
  return isRow(value);
}
