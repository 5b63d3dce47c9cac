/** What of `extra_config` would be accepted and ignored: figures that are none, and a version that is none. */
import type { Detail } from '../problem.ts';

type Config = Readonly<Record<string, unknown>>;

/** Known of models, and read there alone. */
const ofModels = ['context_window', 'max_output_tokens'] as const;
const figures = ['context_window', 'max_output_tokens', 'default_max_tokens'] as const;

export function checkExtraConfig(config: Config | null, of: 'upstream' | 'model'): Detail[] {
  if (config === null) return [];
  const misplaced = of === 'upstream' ? ofModels.filter((name) => Object.hasOwn(config, name) && config[name] !== null) : [];
  const wrong = figures.filter(
    (name) => Object.hasOwn(config, name) && config[name] !== null && !(Number.isSafeInteger(config[name]) && Number(config[name]) > 0),
  );
  return [
    ...misplaced.map((name) => ({ field: `extra_config.${name}`, message: 'is read of models alone: enter it there' })),
    ...wrong.map((name) => ({ field: `extra_config.${name}`, message: 'must be a whole number of tokens above 0' })),
    ...(of === 'upstream' && !['on', 'off', null, undefined].includes(config['http2'] as string | null | undefined)
      ? [{ field: 'extra_config.http2', message: 'must be on or off' }]
      : []),
    ...(saysNoVersion(config) ? [{ field: 'extra_config.api_version', message: 'must be a version of the messages API, as 2023-06-01' }] : []),
  ];
}

const saysNoVersion = (config: Config): boolean =>
  Object.hasOwn(config, 'api_version') && config['api_version'] !== null && !/^\d{4}-\d{2}-\d{2}[\w.-]{0,30}$/.test(String(config['api_version']));
