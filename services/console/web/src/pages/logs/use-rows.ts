/** The rows of the log: pages of the past, and those that finish while one looks on. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { createParser } from 'eventsource-parser';
import { useEffect, useState } from 'react';
import { call } from '../../api/client.ts';
import type { LogRow, Query, Span } from '../../api/stats.ts';
import { streamCall } from '../../api/stream.ts';
import { addLive, type LiveRows, noLiveRows } from './join-rows.ts';

interface LogPage {
  items: LogRow[];
  next_cursor: string | null;
}

const retryMs = 2_000;
const gatherMs = 150;
const renewMs = 5_000;
/** The gateway writes every 15 s. A connection without a word for longer is held back by a proxy, or is gone and nobody said so, as after a computer slept. */
const silentMs = 40_000;

/** Browsers open six connections to a host for all of their tabs together: one that nobody looks at holds none, so that others load. */
const untilShown = (): Promise<void> =>
  new Promise((resolve) => {
    if (document.hidden) document.addEventListener('visibilitychange', () => resolve(), { once: true });
    else resolve();
  });

/** `span`: how far back, or from when to when. `isRenewed`: asked again every few seconds, while the live stream brings no rows. */
export const usePast = (filters: Query, span: Span, isRenewed: boolean) =>
  useInfiniteQuery({
    queryKey: ['logs', 'list', span, filters],
    queryFn: ({ pageParam, signal }) =>
      call<LogPage>('logs', {
        query: { ...filters, ...(typeof span === 'number' ? { from: Date.now() - span } : span), limit: 100, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: isRenewed && renewMs,
  });

/** State of the live tail of the request log. */
export interface Live {
  held: LiveRows;
  /** Rows that came too fast to be shown. */
  dropped: number;
  connected: boolean;
  /** Before each, rows may have been missed. */
  connections: number;
}

const nothing: Live = { held: noLiveRows, dropped: 0, connected: false, connections: 0 };

/** Newest first. Connects again when the connection ends, or is silent for too long; not while the tab is hidden. */
export function useLive(filters: Query, on: boolean): Live {
  const [live, setLive] = useState<Live>(nothing);
  const search = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined || value === null || value === '' ? [] : [[name, String(value)]])),
  ).toString();
  useEffect(() => {
    setLive(nothing);
    if (!on) return;
    let isOver = false;
    let connection = new AbortController();
    let silence: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), silentMs);
    };
    let waiting: LogRow[] = [];
    let dropped = 0;
    // Rows are shown together: a burst must not draw the table for each.
    const timer = setInterval(() => {
      if (waiting.length === 0 && dropped === 0) return;
      const fresh = waiting.reverse();
      const more = dropped;
      waiting = [];
      dropped = 0;
      setLive((before) => ({ ...before, held: addLive(fresh, before.held), dropped: before.dropped + more }));
    }, gatherMs);
    const read = async () => {
      connection = new AbortController();
      listen();
      const response = await streamCall(`logs/stream${search && `?${search}`}`, { signal: connection.signal });
      let isFirst = true;
      const parser = createParser({
        onEvent: ({ event, data }) => {
          if (event === 'row') waiting.push(JSON.parse(data) as LogRow);
          else if (event === 'dropped') dropped += (JSON.parse(data) as { count: number }).count;
        },
      });
      const decoder = new TextDecoder();
      for (const reader = response.body!.getReader(); ; ) {
        const { value, done } = await reader.read();
        if (done) return;
        listen();
        // A proxy may send the head at once and hold back what follows.
        if (isFirst) setLive((before) => ({ ...before, connected: true, connections: before.connections + 1 }));
        isFirst = false;
        parser.feed(decoder.decode(value, { stream: true }));
      }
    };
    const keep = async () => {
      for (;;) {
        await untilShown();
        if (isOver) return;
        // Whatever ended it, a new connection is what helps; a sign-out has already left this page.
        await read().catch(() => undefined);
        setLive((before) => ({ ...before, connected: false }));
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    };
    const leave = () => {
      if (document.hidden) connection.abort();
    };
    document.addEventListener('visibilitychange', leave);
    void keep();
    return () => {
      isOver = true;
      document.removeEventListener('visibilitychange', leave);
      connection.abort();
      clearTimeout(silence);
      clearInterval(timer);
    };
  }, [search, on]);
  return live;
}
