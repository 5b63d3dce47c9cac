/** What was found by a piece of text. */
import { z } from 'zod';
import { findKinds } from '../../find/find-anything.ts';
import { maybeText, text } from './common.ts';

export const findAnswer = z.strictObject({
  items: z.array(
    z.strictObject({
      kind: z.enum(findKinds).describe('The resource as its path names it, or `request`, `session`'),
      name: text.describe('Canonical name, or the whole id of a request or session'),
      detail: maybeText.describe('The group of a key, the upstream of a model, the alias that was found, the model of a request'),
      enabled: z.boolean().nullable(),
    }),
  ),
});
