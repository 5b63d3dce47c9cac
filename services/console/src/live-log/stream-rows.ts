/** The live tail as server-sent events: `row` for each row, `dropped` for those that the reader was too slow for, comments while it is quiet, `end` at the end. */
import type { RequestRow } from '@model-gateway/contracts';
import type { RequestFilters } from '@model-gateway/storage';
import type { Response } from 'express';
import { showRow } from '../statistics/show-row.ts';
import type { LiveLog } from './live-log.ts';
import { createRowFilter } from './row-filter.ts';

/** Longer than usual proxies wait for a byte. */
const quietMs = 15_000;
/** Who goes on looking asks again, with a credential that is looked at again. */
const maxMs = 15 * 60_000;

const head = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };

export function streamRows(response: Response, filters: RequestFilters, liveLog: LiveLog): void {
  // An answer to HEAD has no body: nothing would ever be written, and so its head would not be sent either.
  if (response.req.method === 'HEAD') return void response.writeHead(200, head).end();
  const matches = createRowFilter(filters);
  let dropped = 0;
  let over = false;
  const send = (event: string, data: unknown): void => void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const reportDropped = (): void => {
    if (dropped === 0 || over || response.writableNeedDrain) return;
    const count = dropped;
    dropped = 0;
    send('dropped', { count });
  };
  const finish = (reason: string): void => {
    if (over) return;
    send('end', { reason });
    release();
    response.end();
  };
  const leave = liveLog.join({
    rows(rows: readonly RequestRow[], more) {
      dropped += more;
      for (const row of rows) {
        if (!matches(row)) continue;
        // What a slow reader has not taken yet is not added to.
        if (response.writableNeedDrain) dropped++;
        else send('row', showRow(row));
      }
      reportDropped();
    },
    end: () => finish('draining'),
  });
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': keep-alive\n\n');
  }, quietMs);
  const late = setTimeout(() => finish('time'), maxMs);
  const release = (): void => {
    over = true;
    leave();
    clearInterval(beat);
    clearTimeout(late);
  };
  response.on('close', () => {
    if (!over) release();
  });
  response.on('drain', reportDropped);
  response.writeHead(200, head);
  // The reader knows at once that it is connected.
  response.write(': open\n\n');
}
