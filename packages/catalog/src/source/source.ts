/** The console's side of the catalog: answers for the revision, sends the configuration, and publishes every commit. */
import type { Bus, Disposable, ServerStream } from '@model-gateway/bus';
import type { EventSubjects } from '@model-gateway/contracts';
import { toGatewayError } from '@model-gateway/contracts/errors';
import { type CatalogChange, type Storage, toDelta } from '@model-gateway/storage';
import type { CatalogLogger } from '../logger.ts';
import { redactDelta } from '../redact.ts';
import { createEncodedCatalog, type Encoded, type EncodedCatalog } from './encoded.ts';

/** What the console passes to the source: its database, its bus and its logger. */
export interface CatalogSourceDeps {
  storage: Storage;
  bus: Bus;
  logger: CatalogLogger;
}

/** Serves the configuration to other services between `start` and `stop`. */
export interface CatalogSource {
  start(): void;
  stop(): Promise<void>;
}

type CatalogStream = ServerStream<'catalog.load'> | ServerStream<'catalog.load-redacted'>;

const frameBytes = 64 * 1024;

export function createCatalogSource({ storage, bus, logger }: CatalogSourceDeps): CatalogSource {
  const catalog = createEncodedCatalog(storage);
  let registrations: Disposable | undefined;
  let silence: (() => void) | undefined;
  const send = (revision: number | undefined, stream: CatalogStream, choose: (encoded: Encoded) => Uint8Array): void => {
    sendCatalog(catalog, revision, stream, choose).catch((error: unknown) => {
      logger.warn({ error }, 'the configuration could not be sent');
      stream.fail(toGatewayError(error));
    });
  };
  return {
    start() {
      silence = storage.catalog.onChange((change) => {
        const event = eventOf(change);
        bus.publish('catalog.changed', event);
        bus.publish('catalog.changed-redacted', event.delta ? { ...event, delta: redactDelta(event.delta) } : event);
      });
      registrations = bus.serve({
        ask: {
          'catalog.revision': () => storage.catalog.state(),
          'catalog.scripts': async () => ({ scripts: (await catalog.newest()).scripts }),
        },
        open: {
          'catalog.load': (request, _body, stream) => {
            send(request.revision, stream, ({ bytes }) => bytes);
          },
          'catalog.load-redacted': (request, _body, stream) => {
            send(request.revision, stream, (encoded) => encoded.redacted());
          },
        },
      });
    },
    async stop() {
      silence?.();
      await registrations?.dispose();
    },
  };
}

/** Above this size, one full load is cheaper than sending the delta to every service, and messages on the bus have a maximum size. */
const deltaRows = 500;
const deltaBytes = 256 * 1024;

function eventOf({ changes, ...commit }: CatalogChange): EventSubjects['catalog.changed'] {
  if (changes.length > deltaRows) return commit;
  const delta = toDelta(changes);
  return JSON.stringify(delta).length > deltaBytes ? commit : { ...commit, delta };
}

async function sendCatalog(
  catalog: EncodedCatalog,
  wanted: number | undefined,
  stream: CatalogStream,
  choose: (encoded: Encoded) => Uint8Array,
): Promise<void> {
  let cancelled = false;
  stream.onCancel(() => {
    cancelled = true;
  });
  const encoded = await (wanted === undefined ? catalog.newest() : catalog.near(wanted));
  if (cancelled) return;
  const { revision } = encoded;
  const bytes = choose(encoded);
  stream.head({ revision });
  let sent = 0;
  const send = () => {
    while (!cancelled && sent < bytes.byteLength) {
      const frame = bytes.subarray(sent, sent + frameBytes);
      sent += frame.byteLength;
      if (!stream.data(frame)) break;
    }
    if (!cancelled && sent >= bytes.byteLength) {
      cancelled = true;
      stream.tail({ bytes: bytes.byteLength });
    }
  };
  stream.onWritable(send);
  send();
}
