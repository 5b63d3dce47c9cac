/**
 * Windows of models that the generated list does not name, most of them retired by their vendors and still run by clouds and own servers. Without these
 * such a model would get the window of its family's newest member, and its upstream would refuse what does not fit. Each as its vendor's page says, read by
 * 2026-11; least specific first.
 */
import { matchPieces } from './patterns.ts';

/** Tokens. */
export interface Window {
  context: number;
  output: number | null;
}

const windows: readonly [pattern: string, window: Window][] = [
  // https://ai.google.dev/gemini-api/docs/models
  ['gemini-1*', { context: 1_048_576, output: 8192 }],
  ['gemini-2.0*', { context: 1_048_576, output: 8192 }],
  // https://huggingface.co/openai/gpt-oss-120b
  ['gpt-oss*', { context: 131_072, output: 131_072 }],
  // https://api-docs.deepseek.com/quick_start/pricing
  ['deepseek-vl*', { context: 128_000, output: 65_536 }],
  ['deepseek-ocr*', { context: 128_000, output: 65_536 }],
  // https://qwenlm.github.io/blog/qwen3/
  ['qwen3-*b', { context: 131_072, output: 32_768 }],
  ['qwq*', { context: 131_072, output: 32_768 }],
  ['qvq*', { context: 131_072, output: 32_768 }],
  // https://docs.mistral.ai/getting-started/models/models_overview/
  ['mistral-7b*', { context: 32_768, output: null }],
  ['mixtral*', { context: 32_768, output: null }],
  ['open-mi*', { context: 32_768, output: null }],
  ['mixtral-8x22b*', { context: 65_536, output: null }],
  ['open-mixtral-8x22b*', { context: 65_536, output: null }],
  ['ministral*', { context: 128_000, output: null }],
  ['pixtral*', { context: 128_000, output: null }],
  ['magistral*', { context: 128_000, output: null }],
  // https://docs.x.ai/docs/models
  ['grok-3*', { context: 131_072, output: null }],
  ['grok-code*', { context: 256_000, output: null }],
];
const compiled = windows.map(([pattern, window]) => ({ pieces: pattern.split('*'), window }));

/** Of the last pattern that the bare id matches; null: none does. */
export const unlistedWindow = (bare: string): Window | null => compiled.findLast(({ pieces }) => matchPieces(pieces, bare))?.window ?? null;
