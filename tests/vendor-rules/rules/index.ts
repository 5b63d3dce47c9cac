/** All rows, in the order in which they are asked. */
import type { VendorRule } from '../rule.ts';
import { alphaResponseRules } from './alpha-response.ts';
import { betaRules } from './beta.ts';
import { converseRules } from './cloudhost-converse.ts';
import { ideStreamingRules } from './cloudhost-ide-streaming.ts';
import { invokeRules } from './cloudhost-invoke.ts';
import { deepseekRules } from './deepseek.ts';
import { deltaRules } from './delta.ts';
import { gammaRules } from './gamma.ts';
import { mistralRules } from './mistral.ts';
import { moonshotRules } from './moonshot.ts';
import { openaiRules } from './openai.ts';
import { qwenRules } from './qwen.ts';
import { xaiRules } from './xai.ts';
import { zaiRules } from './zai.ts';

export const rules: readonly VendorRule[] = [
  ...openaiRules,
  ...deepseekRules,
  ...mistralRules,
  ...qwenRules,
  ...xaiRules,
  ...moonshotRules,
  ...zaiRules,
  ...alphaResponseRules,
  ...betaRules,
  ...gammaRules,
  ...converseRules,
  ...invokeRules,
  ...deltaRules,
  ...ideStreamingRules,
];
