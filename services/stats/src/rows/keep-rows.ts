/** Stores rows of requests: consumes durable messages, adds prices and commits. */
import type { Bus, Disposable, EventItem } from '@model-gateway/bus';
import { type RequestRow, requestLogMessage } from '@model-gateway/contracts';
import type { PriceOf } from '@model-gateway/model-catalog';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { commitAll, judge, toBadItem } from '../dead-letters/commit-all.ts';
import { momentFault, readItems } from '../dead-letters/read-item.ts';
import type { SetAside } from '../dead-letters/set-aside.ts';
import { storeAgain } from '../dead-letters/store-again.ts';
import { priceRow } from './price-row.ts';

/** The consumer of request rows; `failing` while the database is away. */
export interface RowKeeper extends Disposable {
  /** The last batch could not be committed. */
  readonly failing: boolean;
}

/** What storing rows of the request log needs. */
export interface RowKeeperDeps {
  bus: Bus;
  storage: Storage;
  logger: Logger;
  priceOf: PriceOf;
  setAside: SetAside;
  /** Receives the rows that were committed. */
  publish(rows: readonly RequestRow[]): void;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * A batch waits this long for company; its rows are then in the log. What is committed in 40 ms needs no line in the journal; over a network fewer and
 * larger transactions are better, and rows of many keys add up to less in a large one.
 */
const batching = { sqlite: { maxBatch: 500, maxWaitMs: 30 }, postgresql: { maxBatch: 2_000, maxWaitMs: 100 } } as const;

type RowSubject = 'stats.request' | 'stats.tool';

/** The subject of MCP aggregators takes calls of tools and nothing else: no row of a request, none that costs, none over another. null: it may be stored. */
function kindFault(subject: RowSubject, { id, kind, model, cost_micros, of }: RequestRow): string | null {
  if (subject === 'stats.request') return null;
  const isOfTool = kind === 'mcp_call' && id.startsWith('mcp_') && model === null && cost_micros === null && of === null;
  return isOfTool ? null : 'is not a call of a tool: this subject allows no other row';
}

export function keepRows({ bus, storage, logger, priceOf, setAside, publish, now }: RowKeeperDeps): RowKeeper {
  let failing = false;
  const price = (row: RequestRow): RequestRow => {
    try {
      return priceRow(row, priceOf);
    } catch (error) {
      // It is in the log without a price rather than not at all.
      logger.error({ error, request_id: row.id }, 'a row could not be priced');
      return row;
    }
  };
  const insert = (rows: readonly RequestRow[]): Promise<unknown> => storage.requests.insertRows(rows.map(price));
  const keep = (subject: RowSubject) => {
    const faultOf = (row: RequestRow): string | null => kindFault(subject, row) ?? momentFault('started_at', row.started_at, now());
    void storeAgain(subject, { schema: requestLogMessage, faultOf, insert }, { storage, logger });
    return async (batch: readonly EventItem<RowSubject>[]): Promise<void> => {
      try {
        const { good, bad } = readItems(batch, requestLogMessage, faultOf);
        const items = good.map(({ value, ...rest }) => ({ ...rest, row: price(value) }));
        const otherwise: RequestRow[] = [];
        const refused = await commitAll(items, async (some) => void otherwise.push(...(await storage.requests.insertRows(some.map(({ row }) => row)))));
        const { givenUp, again } = judge(refused);
        await setAside(subject, [...bad, ...givenUp.map(toBadItem)]);
        if (again !== undefined) throw again;
        const without = new Set(refused.map(({ item }) => item));
        publish(
          asStored(
            items.flatMap((item) => (without.has(item) ? [] : [item.row])),
            otherwise,
          ),
        );
        failing = false;
      } catch (error) {
        if (!failing) logger.error({ error, rows: batch.length }, 'rows of requests cannot be stored, they are delivered again');
        failing = true;
        throw error;
      }
    };
  };
  const listenings = [
    bus.listenDurably('stats.request', keep('stats.request'), batching[storage.mode]),
    bus.listenDurably('stats.tool', keep('stats.tool'), batching[storage.mode]),
  ];
  return {
    get failing() {
      return failing;
    },
    dispose: async () => void (await Promise.all(listenings.map((one) => one.dispose()))),
  };
}

/** Live viewers get the rows as stored: a row that was merged into another one of its request is replaced by the result. */
function asStored(received: RequestRow[], otherwise: readonly RequestRow[]): RequestRow[] {
  if (otherwise.length === 0) return received;
  const settled = new Set(otherwise.map(({ id, of }) => of ?? id));
  return [...received.filter(({ id }) => !settled.has(id)), ...otherwise];
}
