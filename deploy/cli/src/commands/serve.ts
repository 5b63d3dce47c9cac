/** `model-gateway serve NAME`: one service on a shared bus. */
import { ConfigError, loadConfig } from '@model-gateway/config';
import { masterKeyOf } from '../key-files.ts';
import { createParts } from '../parts.ts';
import { type ServiceName, serviceFactories, serviceNames } from '../services.ts';
import { runService } from './run.ts';

export async function serve(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [name = '', ...argv] = args;
  if (!Object.hasOwn(serviceFactories, name)) throw new ConfigError(`"${name}" is not a service; accepted: ${serviceNames.join(', ')}`);
  const config = loadConfig({ env, argv });
  if (config.process.natsUrls === null) throw new ConfigError('NATS_URL is not set, but `serve` needs the bus between services; accepted: nats://host:4222');
  // The key file is for `up` alone: services on several machines must share one key.
  if (config.process.masterKey === null)
    throw new ConfigError('GATEWAY_MASTER_KEY is not set; `serve` needs the same key in every service; accepted: 32 bytes in base64 (openssl rand -base64 32)');
  masterKeyOf(config);
  const parts = await createParts(config, name);
  await runService(serviceFactories[name as ServiceName](parts), parts);
}
