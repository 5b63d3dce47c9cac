/** The common promises over Unix sockets: between two processes that meet in a third, and between each and the one in the middle. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectSocketBus, createHubBus } from '../src/index.ts';
import { busConformance } from './conformance.ts';
import { shapesConformance } from './conformance-shapes.ts';
import { quiet, type Rig, until } from './support.ts';

type End = 'outside' | 'middle';

const makeRig = async (nearEnd: End, farEnd: End): Promise<Rig> => {
  const folder = mkdtempSync(join(tmpdir(), 'bus-'));
  const path = join(folder, 'bus');
  const hub = await createHubBus({ path, logger: quiet, drainMs: 500 });
  const outside = (name: string) => connectSocketBus({ path, name, logger: quiet, drainMs: 500 });
  const near = nearEnd === 'middle' ? hub : outside('near');
  const far = farEnd === 'middle' ? hub : outside('far');
  await until(() => near.connected && far.connected, 'both are connected');
  return {
    near,
    far,
    async settle() {
      await Promise.all([near.settled(), far.settled()]);
    },
    async close() {
      await Promise.all([near.drain(), far.drain()]);
      await hub.drain();
      rmSync(folder, { recursive: true });
    },
  };
};

busConformance('socket', () => makeRig('outside', 'outside'), shapesConformance);
busConformance('socket, served in the middle', () => makeRig('outside', 'middle'), shapesConformance);
busConformance('socket, opened in the middle', () => makeRig('middle', 'outside'), shapesConformance);
