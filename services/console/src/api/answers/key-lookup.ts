/** Whose a key is. */
import { z } from 'zod';
import { instant, maybeText, text } from './common.ts';

export const lookupAnswer = z.strictObject({
  access_key: z
    .strictObject({
      name: text,
      group: text,
      owner: text,
      enabled: z.boolean(),
      expires_at: maybeText,
      last_used_at: instant.nullable(),
      superseded: z
        .strictObject({ valid_until: instant.nullable() })
        .nullable()
        .describe(
          'The value is the one before the last rotation, which is let in until then (`valid_until` null: it stopped at once); null: it is the present one',
        ),
    })
    .nullable(),
  /** One value may be the key of several upstreams. */
  upstream_keys: z.array(
    z.strictObject({ upstream: text, upstream_enabled: z.boolean(), id: text, position: z.int().min(1), label: maybeText, fingerprint: text }),
  ),
});
