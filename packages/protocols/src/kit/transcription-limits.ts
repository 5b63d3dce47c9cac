/** Limits of models that transcribe without timestamps. */
import type { TranscriptionRequest } from '../contract/index.ts';
import { invalid } from './fail.ts';

/** Throws for a format that needs timestamps or speakers. */
export function refuseTimestamps({ form }: TranscriptionRequest): void {
  if (form !== 'json' && form !== 'text')
    throw invalid('response_format', `This model gives no timestamps: response_format must be json or text, not ${form}.`);
}
