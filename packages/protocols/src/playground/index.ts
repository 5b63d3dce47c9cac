/** What the playground can send and show, in the order in which it offers them. */
import { playground as alpha } from '../alpha/client/playground.ts';
import { playgroundCalls as moderation } from '../alpha/client/playground-moderation.ts';
import { playgroundCalls as audio } from '../alpha_audio/client/playground.ts';
import { playgroundCalls as embeddings } from '../alpha_embeddings/client/playground.ts';
import { playgroundCalls as images } from '../alpha_images/client/playground.ts';
import { playgroundCalls as rerank } from '../alpha_rerank/client/playground.ts';
import { playground as alphaResponse } from '../alpha_response/client/playground.ts';
import { playground as beta } from '../beta/client/playground.ts';
import { playground as gamma } from '../gamma/client/playground.ts';
import type { PlaygroundCall } from './call.ts';
import type { PlaygroundDialect } from './dialect.ts';

export type { PlaygroundCall, PlaygroundField, PlaygroundInput, PlaygroundRank, PlaygroundResult } from './call.ts';
export type { PlaygroundDialect, PlaygroundImage, PlaygroundPiece, PlaygroundRequest, PlaygroundStart, PlaygroundTool, PlaygroundTurn } from './dialect.ts';
export { type ProviderPreset, providerPresets } from './providers.ts';

/** Client protocols of conversations. */
export const playgroundDialects: readonly PlaygroundDialect[] = [alpha, alphaResponse, beta, gamma];

/** Calls of one question and one answer. */
export const playgroundCalls: readonly PlaygroundCall[] = [...images, ...audio, ...embeddings, ...rerank, ...moderation];
