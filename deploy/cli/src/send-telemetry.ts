/** What of this process goes to an OpenTelemetry collector, as the configuration says. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config } from '@model-gateway/config';
import { credentialOf, mayCarryCredential } from '@model-gateway/secrets';
import { type Logger, type Metrics, type Sending, sendTelemetry } from '@model-gateway/telemetry';
import manifest from '../package.json' with { type: 'json' };

/** Headers of collectors have names of all kinds; what is this long is not a word of ours. */
const likelySecret = 20;

const nothing: Sending = { tracer: undefined, close: () => Promise.resolve() };

/** `name` is the process's: a service's, or `gateway` for all in one. */
export async function startSending({ telemetry }: Config, name: string, { logger, metrics }: { logger: Logger; metrics: Metrics }): Promise<Sending> {
  const { endpoint, disabled, protocol, headers, compression, timeoutMs, traces, metrics: numbers, sampler, samplerArg } = telemetry;
  if (endpoint === null || disabled) return nothing;
  for (const [header, value] of headers) if (mayCarryCredential(header) || value.length >= likelySecret) logger.redactor.add(credentialOf(value));
  const { host, password } = new URL(endpoint);
  logger.redactor.add(decodeURIComponent(password));
  logger.info({ collector: host, traces, metrics: numbers, sampler, share: samplerArg }, 'traces and metrics go to a collector');
  return sendTelemetry(
    {
      endpoint,
      protocol,
      headers,
      compression,
      timeoutMs,
      traces: traces === 'otlp' ? { sampler, share: samplerArg, batchEveryMs: telemetry.batchEveryMs } : null,
      metrics: numbers === 'otlp' ? { everyMs: telemetry.metricIntervalMs } : null,
      resource: [
        ['service.name', name === 'gateway' ? 'model-gateway' : `model-gateway-${name}`],
        ['service.version', manifest.version],
        ['service.instance.id', randomUUID()],
        ['host.name', hostname()],
        ...telemetry.resource,
        ...(telemetry.serviceName === null ? [] : [['service.name', telemetry.serviceName] as const]),
      ],
    },
    { logger, metrics },
  );
}
