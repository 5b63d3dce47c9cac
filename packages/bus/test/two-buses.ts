/** What suites of faults begin with: a server of their own and two buses on it, anew for each test. */
import { afterEach, beforeEach } from '@jest/globals';
import { type NatsServer, natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type Bus, connectNatsBus, type ServerStream } from '../src/index.ts';
import { inPlace, quiet, until } from './support.ts';

/** Whether a suite can start servers of its own; says on the error output when not. */
export function ownServerAvailable(suite: string): boolean {
  if (!natsAvailable(suite)) return false;
  if (!process.env['NATS_URL']) return true;
  process.stderr.write(`${suite} DID NOT RUN: it needs a server of its own, unset NATS_URL\n`);
  return false;
}

/** The two sides of a test. */
export interface TwoBuses {
  server: NatsServer;
  near: Bus;
  far: Bus;
  connectBus(name: string): Promise<Bus>;
  /** The far side answers streams of `catalog.load`. */
  serveLoad(handler: (body: Uint8Array, stream: ServerStream<'catalog.load'>) => void): Promise<void>;
}

/** To be called in a `describe`; what is returned is filled before each of its tests. */
export function twoBuses(): TwoBuses {
  const stage = {
    connectBus: (name) => connectNatsBus({ url: stage.server.url, name, logger: quiet, drainMs: 200, ackWaitMs: 2000 }),
    async serveLoad(handler) {
      stage.far.serve({ open: { 'catalog.load': (_request, body, stream) => handler(body, stream) } });
      await inPlace(stage.far);
    },
  } as TwoBuses;
  beforeEach(async () => {
    stage.server = await startNatsServer();
    stage.near = await stage.connectBus('near');
    stage.far = await stage.connectBus('far');
    await until(() => stage.near.connected && stage.far.connected, 'both connect');
  });
  afterEach(async () => {
    await Promise.all([stage.near.drain(), stage.far.drain()]);
    await stage.server.dispose();
  });
  return stage;
}
