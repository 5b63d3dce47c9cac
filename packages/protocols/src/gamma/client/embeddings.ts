/** Embeddings as callers of `:embedContent` and `:batchEmbedContents` ask for them: https://ai.google.dev/api/embeddings */
import type { Embeddings, EmbeddingsRequest, UnaryClientCodec } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString } from '../../kit/read.ts';
import { camelName, field, listField, numberField, textField } from '../shared/fields.ts';

const maxRequests = 10_000;
const purposes: ReadonlyMap<string, NonNullable<EmbeddingsRequest['purpose']>> = new Map([
  ['RETRIEVAL_QUERY', 'query'],
  ['RETRIEVAL_DOCUMENT', 'document'],
]);
const entryFields: ReadonlySet<string> = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality']);
const batchFields: ReadonlySet<string> = new Set(['model', 'requests']);
const unspecified = 'TASK_TYPE_UNSPECIFIED';

export const embeddingsClient: UnaryClientCodec<EmbeddingsRequest, Embeddings> = {
  readRequest(body) {
    const losses = new Losses();
    const list = asArray(field(body, 'requests'));
    const single = list === undefined;
    const requests = list ?? [body];
    if (requests.length === 0) throw invalid('requests', 'requests must be a list of at least one entry.');
    if (requests.length > maxRequests) throw invalid('requests', `requests must not hold more than ${maxRequests} entries.`);
    const inputs = requests.map((one, index) => ({ text: readText(one, single ? 'content' : `requests.${index}.content`) }));
    const dimensions = common(requests, (one) => numberField(one, 'outputDimensionality', 'requests'), 'outputDimensionality');
    const purpose = readPurpose(requests, losses);
    losses.unread('', body, single ? entryFields : batchFields, camelName);
    if (!single) for (const one of requests) losses.unread('requests', one, entryFields, camelName);
    if (requests.some((one) => textField(one, 'title') !== undefined)) losses.dropped('title', 'This upstream has no field for the title of a text.');
    const request: EmbeddingsRequest = {
      inputs,
      format: 'float',
      ...(single && { single }),
      ...(dimensions !== undefined && { dimensions }),
      ...(purpose && { purpose }),
    };
    return { request, losses: losses.list };
  },
  writeReply({ vectors }, { single }) {
    const embeddings = vectors.map((values) => ({ values }));
    return single ? { embedding: embeddings[0] } : { embeddings };
  },
};

function readText(request: unknown, path: string): string {
  const content = field(request, 'content');
  const parts = listField(content, 'parts');
  if (!asObject(content) || parts.length === 0) throw invalid(path, 'content must hold parts.');
  const texts = parts.map((part) => asString(field(part, 'text')));
  if (texts.includes(undefined)) throw invalid(path, 'This model takes texts alone.');
  return texts.join('\n');
}

/** What all entries say: other upstreams take it once for a request. */
function common<T>(requests: readonly unknown[], read: (request: unknown) => T | undefined, name: string): T | undefined {
  const values = new Set(requests.map(read));
  if (values.size > 1) throw invalid(`requests.${name}`, `${name} must be the same in all requests for this model.`);
  return [...values][0];
}

function readPurpose(requests: readonly unknown[], losses: Losses): EmbeddingsRequest['purpose'] {
  const words = new Set(requests.map((one) => textField(one, 'taskType') ?? unspecified));
  const [word = unspecified] = words;
  const purpose = words.size === 1 ? purposes.get(word) : undefined;
  if (!purpose && !(words.size === 1 && word === unspecified)) losses.dropped('taskType', 'This upstream is not told what the vectors are for.');
  return purpose;
}
