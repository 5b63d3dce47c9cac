/** Fetches the configuration over the bus. */
import type { Bus } from '@model-gateway/bus';
import type { CatalogRows } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';

/** Which revision to load, with or without secrets, and the time-out in ms. */
export interface LoadOptions {
  /** That one, if the console still has it; absent: the newest. */
  revision: number | undefined;
  /** Without secrets. */
  redacted: boolean;
  deadlineMs: number;
}

/** Rejects with the bus's or the console's GatewayError. */
export function loadRows(bus: Bus, { revision, redacted, deadlineMs }: LoadOptions): Promise<CatalogRows> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    const giveUp = setTimeout(() => {
      call.cancel('timeout');
      reject(new GatewayError('timeout', { message: 'The configuration did not arrive in time.' }));
    }, deadlineMs);
    const request = revision === undefined ? {} : { revision };
    const events = {
      head: () => undefined,
      data: (bytes: Uint8Array) => {
        pieces.push(bytes);
        call.consumed(bytes.byteLength);
      },
      tail: ({ bytes }: { bytes: number }) => {
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
      broken: (error: GatewayError) => {
        clearTimeout(giveUp);
        reject(error);
      },
    };
    const call = redacted ? bus.open('catalog.load-redacted', request, events, { deadlineMs }) : bus.open('catalog.load', request, events, { deadlineMs });
  });
}
