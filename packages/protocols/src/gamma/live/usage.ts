/** Usage of a turn of Gemini Live: sound has buckets of its own, and the names differ from those of calls. */
import { noUsage, type Usage } from '@model-gateway/contracts';
import { asCount } from '../../kit/read.ts';
import { billedTier } from '../../kit/service-tier.ts';
import { field, listField, objectField, textField } from '../shared/fields.ts';
import { tiersRead } from '../shared/service-tiers.ts';
import { tierWord } from '../shared/usage.ts';

const count = (metadata: unknown, name: string): number => asCount(field(metadata, name));

const sound = (metadata: unknown, name: string): number =>
  listField(metadata, name).reduce<number>((sum, one) => sum + (textField(one, 'modality') === 'AUDIO' ? count(one, 'tokenCount') : 0), 0);

/** null: it counts nothing. Thoughts come on top of the response, cached tokens are part of the prompt. */
export function readLiveUsage(metadata: unknown): Usage | null {
  if (!objectField({ metadata }, 'metadata') || count(metadata, 'totalTokenCount') + count(metadata, 'promptTokenCount') === 0) return null;
  const prompt = count(metadata, 'promptTokenCount');
  const cacheRead = Math.min(prompt, count(metadata, 'cachedContentTokenCount'));
  const audioInput = Math.min(prompt - cacheRead, Math.max(0, sound(metadata, 'promptTokensDetails') - sound(metadata, 'cacheTokensDetails')));
  const response = count(metadata, 'responseTokenCount');
  const audioOutput = Math.min(response, sound(metadata, 'responseTokensDetails'));
  return {
    ...noUsage,
    input: prompt - cacheRead - audioInput + count(metadata, 'toolUsePromptTokenCount'),
    cacheRead,
    output: response - audioOutput,
    reasoning: count(metadata, 'thoughtsTokenCount'),
    audioInput,
    audioOutput,
    ...billedTier(tierWord(metadata), tiersRead),
  };
}
