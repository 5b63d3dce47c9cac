import type { Target, UpstreamAdapter, UpstreamRequest } from '../../contract/index.ts';
import { joinUrl } from '../../kit/join-url.ts';
import { passedCall, withQuery } from '../../kit/passed-call.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { rootOf } from './address.ts';
import { streamsOnly } from './families.ts';
import { imageServiceOf } from './image-tasks.ts';
import { readsByAddress } from './recorded-files.ts';
import { asyncHeader, tasks } from './tasks.ts';

const version = 'api/v1';
const generationPaths = {
  '': '/services/aigc/text-generation/generation',
  'delta-multimodal': '/services/aigc/multimodal-generation/generation',
  'delta-text-embedding': '/services/embeddings/text-embedding/text-embedding',
  'delta-rerank': '/services/rerank/text-rerank/text-rerank',
  'delta-audio-asr': '/services/audio/asr/transcription',
} as const;

/** The variants that a model's `kind` may name, beside none. */
export const kinds: readonly string[] = Object.keys(generationPaths).filter((kind) => kind !== '');

/** Whether content is written as parts rather than as text. */
export const isMultimodal = (target: Target): boolean => target.kind === 'delta-multimodal';

const kindOf = ({ kind }: Target): keyof typeof generationPaths => (kind && Object.hasOwn(generationPaths, kind) ? (kind as keyof typeof generationPaths) : '');

/** Some models answer in streams alone; a whole reply is then made of one. */
export const asksForStream = (target: Target, stream: boolean): boolean => stream || streamsOnly(target);

/** Address and headers of a generation, or of the tokenizer. The body's own `stream` means nothing here: a header asks for it. */
export const request: UpstreamAdapter['request'] = (context) => {
  const { target, operation, stream } = context;
  if (operation === 'native') return callService(context);
  const streams = (operation === 'generate' && asksForStream(target, stream)) || (operation === 'speech' && stream);
  const images = operation.startsWith('image') ? imageServiceOf(target) : undefined;
  const path = operation === 'count-tokens' ? '/tokenizer' : images ? `/services/aigc/${images}/image-synthesis` : generationPaths[kindOf(target)];
  const url =
    target.directPath && operation !== 'count-tokens' ? target.baseUrl : joinUrl(target.directPath ? rootOf(target.baseUrl) : target.baseUrl, version, path);
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      accept: streams ? 'text/event-stream' : 'application/json',
      ...(streams && { 'x-dashscope-sse': 'enable' }),
      ...((images || readsByAddress(target)) && { [asyncHeader]: 'enable' }),
      ...(readsByAddress(target) && { 'x-dashscope-ossresourceresolve': 'enable' }),
    },
  };
};

const servicesPath = /^(?:\/api)?\/v1\/services\//;

/** A caller's own call of a service: the same path here. A whole endpoint is the service itself. */
function callService({ target, clientPath = '', clientQuery, clientHeaders = {} }: Parameters<UpstreamAdapter['request']>[0]): UpstreamRequest {
  const headers = tasks.begins(target, clientHeaders) ? { ...clientHeaders, [asyncHeader]: 'enable' } : clientHeaders;
  const url = target.directPath ? target.baseUrl : joinUrl(target.baseUrl, version, `/services/${clientPath.replace(servicesPath, '')}`);
  return passedCall(withQuery(url, clientQuery), { headers });
}

export const credential = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** The native API has no list; the vendor's compatible endpoint on the same host knows the same names. */
export const listModels = (target: Target): UpstreamRequest => ({
  method: 'GET',
  url: `${rootOf(target.baseUrl)}/compatible-mode/v1/models`,
  headers: { accept: 'application/json' },
});

export const readModelList = (body: unknown): string[] => (asArray(own(body, 'data')) ?? []).flatMap((entry) => asString(own(entry, 'id')) ?? []);

/** What the tokenizer counted; null when it said nothing usable. */
export function readTokenCount(body: unknown): number | null {
  const counted = own(own(body, 'usage'), 'input_tokens') ?? asArray(own(own(body, 'output'), 'token_ids'))?.length;
  return typeof counted === 'number' && Number.isSafeInteger(counted) && counted >= 0 ? counted : null;
}
