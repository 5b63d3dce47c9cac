/** Client protocols that the playground can speak, in the order in which it offers them. */
import { playground as alpha } from '../alpha/client/playground.ts';
import { playground as alphaResponse } from '../alpha_response/client/playground.ts';
import { playground as beta } from '../beta/client/playground.ts';
import { playground as gamma } from '../gamma/client/playground.ts';
import type { PlaygroundDialect } from './dialect.ts';

export type { PlaygroundDialect, PlaygroundImage, PlaygroundPiece, PlaygroundRequest, PlaygroundStart, PlaygroundTool, PlaygroundTurn } from './dialect.ts';
export { type ProviderPreset, providerPresets } from './providers.ts';

export const playgroundDialects: readonly PlaygroundDialect[] = [alpha, alphaResponse, beta, gamma];
