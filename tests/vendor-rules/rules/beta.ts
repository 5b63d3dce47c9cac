/** Anthropic's messages. */
import type { VendorRule } from '../rule.ts';
import { version } from './beta-kit.ts';
import { betaMessages } from './beta-messages.ts';
import { betaSettings } from './beta-settings.ts';

export const betaRules: VendorRule[] = [...betaMessages, ...betaSettings].map((row) => ({
  ...row,
  protocol: 'beta',
  refused: row.refused.map((example) => ({ headers: version, ...example })),
  accepted: row.accepted.map((example) => ({ headers: version, ...example })),
}));
