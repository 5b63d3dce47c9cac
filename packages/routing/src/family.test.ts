import { expect, test } from '@jest/globals';
import { modelSchema } from '@model-gateway/contracts';
import { familyOfModel } from './family.ts';

const family = (extra: Record<string, unknown> | null, id = 'deepseek-chat') =>
  familyOfModel(modelSchema.parse({ name: 'm', upstream: 'u', upstream_model_id: id, extra_config: extra }));

test('what an admin knows of a model takes the place of the table', () => {
  expect(family(null)).toMatchObject({ vision: false, context: 131_072 });
  expect(family({ vision: true })).toMatchObject({ vision: true, context: 131_072 });
  expect(family({ vision: 'yes', context_window: 1000, max_output_tokens: 50 })).toMatchObject({ vision: false, context: 1000, output: 50, defaultOutput: 50 });
  // A window that is given is taken as it is: nobody else knows what of it a prompt may fill.
  expect(family({ context_window: 1000 }, 'gpt-5.2')).toMatchObject({ context: 1000, input: 1000, output: 128_000 });
  expect(Object.isFrozen(family({ vision: true }))).toBe(true);
});
