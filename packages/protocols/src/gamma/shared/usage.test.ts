/** Counts of a stream, of which some chunks lack what earlier ones had. */
import { expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { UsageReader } from './usage.ts';

test('counts and what is told apart in them stay where a later chunk lacks them', () => {
  const reader = new UsageReader();
  reader.take({
    promptTokenCount: 100,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 60 },
      { modality: 'AUDIO', tokenCount: 40 },
    ],
  });
  reader.take({ candidatesTokenCount: 50, candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 45 }] });
  reader.take({ promptTokenCount: 100, candidatesTokenCount: 52, thoughtsTokenCount: 7, totalTokenCount: 159 });
  expect(reader.usage).toEqual({ ...noUsage, input: 60, audioInput: 40, output: 52, imageOutput: 45, reasoning: 7 });
});
