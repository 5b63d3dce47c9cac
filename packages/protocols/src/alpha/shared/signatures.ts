import { asString, own } from '../../kit/read.ts';
import type { ExtraContent } from './wire.ts';

/** Google's value for "no signature": its endpoint accepts it on a call that another model made. */
export const absentSignature = 'skip_thought_signature_validator';

/** The signature on a call, a delta or a message: `extra_content.google.thought_signature`. */
export const readSignatureOf = (value: unknown): string | undefined =>
  asString(own(own(own(value, 'extra_content'), 'google'), 'thought_signature')) || undefined;

export const writeSignature = (signature: string): { extra_content: ExtraContent } => ({ extra_content: { google: { thought_signature: signature } } });
