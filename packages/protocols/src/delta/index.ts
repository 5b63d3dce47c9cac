/** DashScope native generation: the protocol as one value. Only upstreams speak it. */
import type { Operation } from '@model-gateway/contracts';
import type { Protocol, Target } from '../contract/index.ts';
import { speech, transcription } from './upstream/audio.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { embeddings } from './upstream/embeddings.ts';
import { credential, kinds, listModels, readModelList, readTokenCount, request } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import { imageServiceOf, servedBy as imageServices } from './upstream/image-tasks.ts';
import { images } from './upstream/images.ts';
import { DeltaReader, readWhole } from './upstream/read-response.ts';
import { rerank } from './upstream/rerank.ts';
import { tasks } from './upstream/tasks.ts';
import { readUnaryUsage } from './upstream/usage.ts';
import { writeRequest } from './upstream/write-request.ts';

const servedBy: Readonly<Record<string, readonly Operation[]>> = {
  'delta-text-embedding': ['embed', 'native'],
  'delta-rerank': ['rerank', 'native'],
  'delta-multimodal': ['generate', 'count-tokens', 'image', 'image-edit', 'image-variation', 'speech', 'transcribe', 'translate-speech', 'native'],
  'delta-audio-asr': ['transcribe', 'native'],
};
const serves = (target: Target): readonly Operation[] => {
  const images = imageServiceOf(target);
  return images ? imageServices[images] : (servedBy[target.kind ?? ''] ?? ['generate', 'count-tokens', 'native']);
};

export const delta: Protocol = {
  id: 'delta',
  kind: 'chat',
  title: 'DashScope native',
  upstream: {
    serves,
    unary: {
      embed: embeddings,
      rerank,
      image: images,
      'image-edit': images,
      'image-variation': images,
      speech,
      transcribe: transcription,
      'translate-speech': transcription,
    },
    readUnaryUsage,
    tasks,
    bodyLayout: () => bodyLayout,
    framing: 'sse',
    kinds,
    request,
    credential,
    countsTokens: true,
    writeRequest,
    createReader: () => new DeltaReader(),
    readWhole,
    readTokenCount,
    readError,
    listModels,
    readModelList,
  },
};
