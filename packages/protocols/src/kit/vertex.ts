/** What Vertex AI has in common for the protocols of its publishers. */
import { asArray, asString, own } from './read.ts';

const publisher = /^([^?#]{0,2000})\/v\d[a-z0-9]*\/projects\/[^?#]{1,2000}\/publishers\/([a-z]{1,40})(?:\/|$)/i;

/** Where a publisher's models are listed: beneath no project, and in this version alone (`models.list` of google-genai). null: the upstream is not Vertex AI. */
export function publisherModelsUrl(baseUrl: string): string | null {
  const [, host, name] = publisher.exec(baseUrl) ?? [];
  return host === undefined ? null : `${host}/v1beta1/publishers/${name}/models?pageSize=1000`;
}

/** Names as requests have them: a list has `publishers/google/models/gemini-…`. */
export const readPublisherModels = (body: unknown): string[] =>
  (asArray(own(body, 'publisherModels')) ?? []).flatMap((entry) => asString(own(entry, 'name'))?.split('/').at(-1) || []);
