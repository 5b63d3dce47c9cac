/** Embeddings in the shape of Cohere's `POST /v2/embed`: https://docs.cohere.com/reference/embed */
import type { EmbeddingInput, Embeddings, EmbeddingsRequest, UnaryClientCodec } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { encodeVector } from '../../kit/float-vector.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asString, own } from '../../kit/read.ts';

const known: ReadonlySet<string> = new Set([
  'model',
  'texts',
  'inputs',
  'input_type',
  'embedding_types',
  'output_dimension',
  'truncate',
  'max_tokens',
  'priority',
]);
const maxInputs = 10_000;
const types = ['float', 'base64'] as const;

/** `search_query`, `search_document`: other vendors have them too. */
const purposes: ReadonlyMap<unknown, NonNullable<EmbeddingsRequest['purpose']>> = new Map([
  ['search_query', 'query'],
  ['search_document', 'document'],
]);

function readInputs(body: unknown): EmbeddingInput[] {
  const name = own(body, 'inputs') === undefined ? 'texts' : 'inputs';
  const list = asArray(own(body, name));
  if (!list || list.length === 0) throw invalid(name, `${name} must be a list of at least one text.`);
  if (list.length > maxInputs) throw invalid(name, `${name} must not hold more than ${maxInputs} entries.`);
  return list.map((entry, index) => ({ text: asString(entry) ?? textOfParts(entry, `${name}.${index}`) }));
}

/** `{ content: [{ type: 'text', text }] }`. */
function textOfParts(entry: unknown, field: string): string {
  const parts = asArray(own(entry, 'content'))?.map((part) => (own(part, 'type') === 'text' ? asString(own(part, 'text')) : undefined));
  if (!parts || parts.length === 0 || parts.includes(undefined)) throw invalid(field, 'Only texts can be embedded here.');
  return parts.join('\n');
}

function readTypes(value: unknown): readonly (typeof types)[number][] {
  if (value === undefined || value === null) return ['float'];
  const list = asArray(value);
  if (!list || list.length === 0) throw invalid('embedding_types', 'embedding_types must be a list of at least one type.');
  return list.map((type, index) => {
    const found = types.find((one) => one === type);
    // Whole numbers and bits depend on each vendor's own calibration.
    if (!found) throw invalid(`embedding_types.${index}`, 'embedding_types may be float and base64 here.');
    return found;
  });
}

function readDimension(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw invalid('output_dimension', 'output_dimension must be a whole number above 0.');
  return value as number;
}

const present = (value: unknown): boolean => value !== undefined && value !== null;

export const cohereEmbeddingsClient: UnaryClientCodec<EmbeddingsRequest, Embeddings> = {
  readRequest(body) {
    const losses = new Losses();
    losses.unread('', body, known);
    const inputType = own(body, 'input_type');
    if (present(inputType) && asString(inputType) === undefined) throw invalid('input_type', 'input_type must be a string.');
    if (present(own(body, 'images'))) throw invalid('images', 'Only texts can be embedded here.');
    const dimensions = readDimension(own(body, 'output_dimension'));
    const purpose = purposes.get(inputType);
    const ofVendor = Object.fromEntries(
      ['input_type', 'truncate', 'max_tokens', 'priority'].flatMap((key) => (present(own(body, key)) ? [[key, own(body, key)]] : [])),
    );
    const request: EmbeddingsRequest = {
      inputs: readInputs(body),
      format: 'float',
      types: readTypes(own(body, 'embedding_types')),
      ofVendor,
      ...(dimensions !== undefined && { dimensions }),
      ...(purpose && { purpose }),
    };
    return { request, losses: losses.list };
  },
  writeReply({ vectors }, { inputs, types: asked = ['float'] }, { usage, mintId }) {
    const made = { float: () => vectors, base64: () => vectors.map(encodeVector) };
    return {
      id: mintId('embed-'),
      embeddings: Object.fromEntries(asked.map((type) => [type, made[type]()])),
      texts: inputs.map((input) => ('text' in input ? input.text : '')),
      response_type: 'embeddings_by_type',
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: usage?.input ?? 0 } },
    };
  },
};
