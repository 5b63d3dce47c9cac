/** Embeddings in the shape of `POST /v1/embeddings`: https://platform.openai.com/docs/api-reference/embeddings */
import { noUsage, type Usage } from '@model-gateway/contracts';
import { type Edit, type Projected, Projection, unread } from '@model-gateway/json-bytes';
import type {
  EmbeddingInput,
  Embeddings,
  EmbeddingsRequest,
  Target,
  UnaryClientCodec,
  UnaryUpstreamCodec,
  VerbatimReply,
  VerbatimReplyContext,
} from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { decodeVector, encodeVector, vectorOf } from '../../kit/float-vector.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';

const known: ReadonlySet<string> = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);
/** More than any vendor takes at once. */
const maxInputs = 10_000;

const isTokens = (value: unknown): value is number[] => asArray(value)?.every((token) => Number.isSafeInteger(token)) === true;

function readInputs(input: unknown): EmbeddingInput[] {
  const text = asString(input);
  if (text !== undefined) return [{ text }];
  const list = asArray(input);
  if (!list || list.length === 0) throw invalid('input', 'input must be a string, a list of strings, or lists of tokens.');
  // A flat list of numbers is one input.
  if (isTokens(list)) return [{ tokens: list }];
  if (list.length > maxInputs) throw invalid('input', `input must not hold more than ${maxInputs} entries.`);
  return list.map((entry, index) => {
    if (typeof entry === 'string') return { text: entry };
    if (isTokens(entry) && entry.length > 0) return { tokens: entry };
    throw invalid(`input.${index}`, 'An entry of input must be a string or a list of tokens.');
  });
}

function readFormat(value: unknown): EmbeddingsRequest['format'] {
  if (value === undefined || value === null) return 'float';
  if (value !== 'float' && value !== 'base64') throw invalid('encoding_format', 'encoding_format must be float or base64.');
  return value;
}

function readDimensions(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw invalid('dimensions', 'dimensions must be a whole number above 0.');
  return value as number;
}

export const embeddingsClient: UnaryClientCodec<EmbeddingsRequest, Embeddings> = {
  readRequest(body) {
    const losses = new Losses();
    losses.unread('', body, known);
    // Of use to the vendor's own checks alone.
    if (own(body, 'user') !== undefined) losses.dropped('user', 'This upstream has no field for the end user of an embeddings request.');
    const dimensions = readDimensions(own(body, 'dimensions'));
    const request = {
      inputs: readInputs(own(body, 'input')),
      format: readFormat(own(body, 'encoding_format')),
      ...(dimensions !== undefined && { dimensions }),
    };
    return { request, losses: losses.list };
  },
  writeReply({ vectors }, { format }, { model, usage }) {
    const tokens = usage?.input ?? 0;
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: format === 'base64' ? encodeVector(vector) : vector })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    };
  },
};

/** null: the answer does not say. Some servers name only the total. */
export function readUsage(body: unknown): Usage | null {
  const usage = own(body, 'usage');
  const input = asNumber(own(usage, 'prompt_tokens')) ?? asNumber(own(usage, 'total_tokens'));
  return input === undefined ? null : { ...noUsage, input: asCount(input) };
}

/** An address of Cohere's second version, whose embeddings have a shape of their own: https://docs.cohere.com/reference/embed */
export const isCohere = ({ baseUrl }: Target): boolean => /\/v2\/?$/.test(baseUrl);

/** Its models want to know what the vectors are for; callers of this protocol do not say. */
const defaultInputType = 'search_document';

function writeCohere({ inputs, dimensions, purpose, ofVendor }: EmbeddingsRequest, { upstreamModelId, extraConfig }: Target): JsonObject {
  return {
    model: upstreamModelId,
    texts: inputs.map(textOf),
    input_type: purpose ? `search_${purpose}` : (asString(extraConfig?.['input_type']) ?? defaultInputType),
    ...ofVendor,
    embedding_types: ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  };
}

/** What a caller in Cohere's shape said, which another upstream has no field for; what the vectors are for is a matter of its own. */
export function fieldsOfVendor({ ofVendor = {}, purpose }: EmbeddingsRequest): Losses {
  const losses = new Losses();
  losses.unread('', ofVendor, new Set(purpose === undefined ? [] : ['input_type']));
  return losses;
}

/** Adds the loss of the vectors' purpose, with the name of the caller's field. */
export function dropPurpose({ purpose, ofVendor }: EmbeddingsRequest, losses: Losses): void {
  if (purpose && own(ofVendor, 'input_type') !== undefined) losses.dropped('input_type', 'This upstream is not told what the vectors are for.');
  else if (purpose) losses.dropped('taskType', 'This upstream is not told what the vectors are for.');
}

/** For upstreams that take texts alone. */
export function textOf(input: EmbeddingInput): string {
  if ('text' in input) return input.text;
  throw invalid(
    'input',
    'This model takes texts; tokens of another tokenizer mean nothing to it. Send the texts as strings (LangChain: `check_embedding_ctx_length=False`).',
  );
}

/** The request as several for an upstream that takes texts alone, and at most `maxTexts` of them in a call. */
export function textsInParts(request: EmbeddingsRequest, maxTexts: number): EmbeddingsRequest[] {
  const { inputs } = request;
  // Before the first call: what the upstream cannot be asked for is refused as a whole.
  for (const input of inputs) textOf(input);
  return Array.from({ length: Math.ceil(inputs.length / maxTexts) }, (_, at) => ({ ...request, inputs: inputs.slice(at * maxTexts, (at + 1) * maxTexts) }));
}

/** The vectors of all parts of a request, in their order. */
export const joinEmbeddings = (replies: readonly Embeddings[]): Embeddings => ({ vectors: replies.flatMap(({ vectors }) => vectors) });

/** What Cohere takes in one call; what others do is not known. */
export const cohereTexts = 96;

export const embeddingsUpstream: UnaryUpstreamCodec<EmbeddingsRequest, Embeddings> = {
  split: (request, target) => (isCohere(target) ? textsInParts(request, cohereTexts) : [request]),
  join: joinEmbeddings,
  writeRequest(request, { target }) {
    const losses = isCohere(target) ? new Losses() : fieldsOfVendor(request);
    if (!isCohere(target)) dropPurpose(request, losses);
    return { body: isCohere(target) ? writeCohere(request, target) : writePlain(request, target), losses: losses.list };
  },
  readReply(body, { inputs }) {
    const floats = asArray(own(own(body, 'embeddings'), 'float'));
    if (floats) return { reply: { vectors: exactly(inputs.length, floats.map(vectorOf)) }, usage: readBilled(body) };
    const vectors: (readonly number[])[] = [];
    for (const [place, entry] of (asArray(own(body, 'data')) ?? []).entries())
      vectors[asNumber(own(entry, 'index')) ?? place] = vectorOf(own(entry, 'embedding'));
    return { reply: { vectors: exactly(inputs.length, vectors) }, usage: readUsage(body) };
  },
};

const writePlain = ({ inputs, dimensions }: EmbeddingsRequest, { upstreamModelId }: Target): JsonObject => ({
  model: upstreamModelId,
  input: inputs.map((input) => ('text' in input ? input.text : input.tokens)),
  encoding_format: 'float',
  ...(dimensions !== undefined && { dimensions }),
});

function readBilled(body: unknown): Usage | null {
  const tokens = asNumber(own(own(own(body, 'meta'), 'billed_units'), 'input_tokens'));
  return tokens === undefined ? null : { ...noUsage, input: asCount(tokens) };
}

/** Throws unless there is one vector for each input. */
export function exactly(count: number, vectors: readonly (readonly number[] | undefined)[]): readonly (readonly number[])[] {
  if (vectors.length !== count || vectors.includes(undefined)) throw new Error(`${vectors.length} vectors for ${count} inputs`);
  return vectors as readonly (readonly number[])[];
}

/** Of an answer that passes: a thousand vectors are eight megabytes and more, and their form is that of the first. */
const lookedAt = new Projection([
  { path: ['model'], depth: 'value' },
  { path: ['usage'], depth: 'value' },
  { path: ['data', '0', 'embedding'], depth: 'length' },
  { path: ['_gateway_warning'], depth: 'place' },
]);

/** undefined: what it says has to be read in full, or cannot be read. */
function look(bytes: Uint8Array): Projected | undefined {
  try {
    return lookedAt.read(bytes);
  } catch {
    return undefined;
  }
}

/** The vectors of an answer that passes, in the form that was asked for: some servers know one form only, and SDKs decode what they asked for. */
export function createEmbeddingsReply({ model, requestValue }: VerbatimReplyContext): VerbatimReply {
  const asked = requestValue('encoding_format') === 'base64' ? 'base64' : 'float';
  return {
    record: () => [],
    look(bytes) {
      const found = look(bytes);
      const vector = own(asArray(own(found?.value, 'data'))?.[0], 'embedding');
      // What is to be written in the other form has to be read.
      const isOther = asked === 'base64' ? asArray(vector) !== undefined : requestValue('encoding_format') === 'float' && vector === unread;
      return isOther ? undefined : found;
    },
    whole(body) {
      const edits: Edit[] = [];
      if (own(body, 'model') !== undefined && own(body, 'model') !== model) edits.push({ path: ['model'], value: model });
      (asArray(own(body, 'data')) ?? []).forEach((entry, index) => {
        const vector = own(entry, 'embedding');
        const path = ['data', index, 'embedding'];
        if (asked === 'base64' && asArray(vector)?.every((value) => typeof value === 'number')) edits.push({ path, value: encodeVector(vector as number[]) });
        // Without a word about the form an SDK may have meant either: what came is kept then.
        if (asked === 'float' && requestValue('encoding_format') === 'float' && typeof vector === 'string') edits.push({ path, value: decodeVector(vector) });
      });
      return edits;
    },
  };
}
