/** Fetches the configuration over the bus. */
import type { Bus } from '@model-gateway/bus';
import type { CatalogRows } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/errors';

/** Rejects with the bus's or the console's GatewayError. `revision`: that one, if the console still has it; else the newest. */
export function loadRows(bus: Bus, revision: number | undefined, deadlineMs: number): Promise<CatalogRows> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    const giveUp = setTimeout(() => {
      call.cancel('timeout');
      reject(new GatewayError('timeout', { message: 'The configuration did not arrive in time.' }));
    }, deadlineMs);
    const call = bus.open(
      'catalog.load',
      revision === undefined ? {} : { revision },
      {
        head: () => undefined,
        data: (bytes) => {
          pieces.push(bytes);
          call.consumed(bytes.byteLength);
        },
        tail: ({ bytes }) => {
          clearTimeout(giveUp);
          call.acknowledge();
          const text = Buffer.concat(pieces);
          if (text.byteLength !== bytes) return reject(new GatewayError('service_lost', { message: 'The configuration arrived incomplete.' }));
          try {
            resolve(JSON.parse(text.toString('utf8')) as CatalogRows);
          } catch (cause) {
            reject(new GatewayError('service_unavailable', { cause }));
          }
        },
        broken: (error) => {
          clearTimeout(giveUp);
          reject(error);
        },
      },
      { deadlineMs },
    );
  });
}
