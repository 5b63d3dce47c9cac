import type { OutputFormat } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import { asBoolean, asString, type JsonObject, own } from '../../kit/read.ts';

/** `response_format` (or `text.format`, as the Responses shape spells it) → the canonical form. */
export function readOutputFormat(source: JsonObject): OutputFormat | undefined {
  const format = own(source, 'response_format') ?? own(own(source, 'text'), 'format');
  if (format === undefined) return undefined;
  switch (asString(own(format, 'type'))) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema':
      return readSchema(own(format, 'json_schema') ?? format);
    default:
      throw invalid('response_format.type', '`response_format.type` must be text, json_object or json_schema.');
  }
}

function readSchema(value: unknown): OutputFormat {
  const schema = own(value, 'schema');
  if (typeof schema !== 'object') throw invalid('response_format.json_schema.schema', 'A schema must be an object.');
  const name = asString(own(value, 'name'));
  const description = asString(own(value, 'description'));
  const strict = asBoolean(own(value, 'strict'));
  return {
    type: 'schema',
    schema,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  };
}

/** The canonical form → `response_format`. */
export function writeOutputFormat(output: OutputFormat): unknown {
  if (output.type === 'text') return { type: 'text' };
  if (output.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = output;
  return {
    type: 'json_schema',
    // The name is mandatory on this wire.
    json_schema: { name: name ?? 'response', ...(description !== undefined && { description }), schema, ...(strict !== undefined && { strict }) },
  };
}
