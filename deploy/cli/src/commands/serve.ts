/** `model-gateway serve NAME`: one service on a shared bus. */
import { type Config, ConfigError, loadConfig } from '@model-gateway/config';
import { holdsMasterKey, keyHolders } from '@model-gateway/contracts';
import { keyringOf } from '../key-files.ts';
import { createParts } from '../parts.ts';
import { type ServiceName, serviceFactories, serviceNames } from '../services.ts';
import { runService } from './run.ts';

export async function serve(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [name = '', ...argv] = args;
  if (!Object.hasOwn(serviceFactories, name)) throw new ConfigError(`"${name}" is not a service; accepted: ${serviceNames.join(', ')}`);
  const config = withOwnSecrets(name, loadConfig({ env, argv }));
  if (config.process.natsUrls === null) throw new ConfigError('NATS_URL is not set, but `serve` needs the bus between services; accepted: nats://host:4222');
  const parts = await createParts(config, name);
  await runService(await serviceFactories[name as ServiceName](parts), parts);
}

/** Throws a ConfigError. Who opens no secret does not keep the key, even where it is set. */
function withOwnSecrets(name: string, config: Config): Config {
  const { masterKey } = config.process;
  if (masterKey !== null) keyringOf(config);
  if (holdsMasterKey(name)) {
    // The key file is for `up` alone: services on several machines must share one key.
    if (masterKey === null)
      throw new ConfigError(
        `GATEWAY_MASTER_KEY is not set; \`serve ${name}\` needs the same key as ${keyHolders.join(', ')}; accepted: 32 bytes in base64 (openssl rand -base64 32)`,
      );
    return config;
  }
  if (masterKey === null) return config;
  const warning = `GATEWAY_MASTER_KEY is set, but ${name} opens nothing sealed: leave it out of this service's environment`;
  return { ...config, process: { ...config.process, masterKey: null }, warnings: [...config.warnings, warning] };
}
