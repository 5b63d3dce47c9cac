/** The common promises over a real nats-server: two connections, one that asks and one that serves. */
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { type NatsServer, natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { connectNatsBus } from '../src/index.ts';
import type { NatsBus } from '../src/nats/nats-bus.ts';
import { busConformance } from './conformance.ts';
import { shapesConformance } from './conformance-shapes.ts';
import { inPlace, quiet, until } from './support.ts';

if (natsAvailable('bus over NATS')) {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(async () => {
    await server.dispose();
  });

  const makeRig = async () => {
    const near = await connectNatsBus({ url: server.url, name: 'near', logger: quiet, drainMs: 500 });
    const far = await connectNatsBus({ url: server.url, name: 'far', logger: quiet, drainMs: 500 });
    await until(() => near.connected && far.connected, 'both are connected');
    const close = async () => {
      await Promise.all([near.drain(), far.drain()]);
    };
    const settle = async () => {
      await Promise.all([inPlace(near), inPlace(far)]);
    };
    const push = () => void (near as NatsBus).link.ping();
    return { near, far, push, settle, close };
  };
  busConformance('NATS', makeRig, shapesConformance);
} else {
  describe('bus over NATS', () => {
    test.skip('needs a nats-server', () => {});
  });
}
