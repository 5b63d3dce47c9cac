/** Thousands of rows of which only those in sight are drawn. */
import { Box, Text, UnstyledButton } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { LogRow } from '../../api/stats.ts';
import { formatCompact, formatDuration, formatMoney, formatNumber, formatRecent } from '../../components/format.ts';
import { isGap, type Line } from './join-rows.ts';

interface Props {
  lines: readonly Line[];
  onOpen: (row: LogRow) => void;
  /** The end of what is here came into sight. */
  onEnd: () => void;
  /** The rows of a gap are wanted. */
  onFill: () => void;
}

const rowHeight = 40;
const columns = ['time', 'status', 'model', 'key', 'upstream', 'tokens', 'cost', 'duration'] as const;
const numeric: ReadonlySet<string> = new Set(['tokens', 'cost', 'duration']);
/** The cost is wide enough for six decimals and the longest currency symbol. */
const widths = '108px minmax(150px, 1.5fr) minmax(120px, 1.5fr) minmax(90px, 1fr) minmax(90px, 1fr) 62px 108px 76px';

/** It went well, and an attempt before had failed. */
export const wasRepeated = ({ error_code, attempts }: LogRow): boolean => error_code === null && attempts.some((attempt) => attempt.error_code !== null);

function SecondAttempt({ row }: { row: LogRow }) {
  const label = useTranslation('failures').t('second', { number: row.attempts.length });
  return <IconRepeat size={15} color="var(--mantine-color-orange-text)" role="img" aria-label={label} title={label} style={{ verticalAlign: 'text-bottom' }} />;
}

const cells: Record<(typeof columns)[number], (row: LogRow) => React.ReactNode> = {
  time: (row) => formatRecent(row.started_at),
  status: (row) => (
    <Text
      size="sm"
      c={row.error_code ? (row.error_code === 'client_gone' ? 'dimmed' : 'red') : undefined}
      truncate
      title={row.error_code ? `${row.status} ${row.error_code}` : undefined}
    >
      {row.status} {row.error_code ?? (wasRepeated(row) && <SecondAttempt row={row} />)}
    </Text>
  ),
  model: (row) => row.model ?? row.requested_model ?? '–',
  key: (row) => row.access_key ?? '–',
  upstream: (row) => row.upstream ?? '–',
  tokens: (row) => formatCompact(row.input_tokens + row.output_tokens + row.cache_read_tokens + row.cache_write_tokens + row.reasoning_tokens),
  cost: (row) => formatMoney(row.cost_micros, row.currency),
  duration: (row) => formatDuration(row.duration_ms),
};

const keyOf = (line: Line): string => (isGap(line) ? 'gap' : line.id);

/** Who has scrolled down reads on where they were: what finishes meanwhile comes in above, and moves nothing. */
function useHeldPlace(frame: RefObject<HTMLDivElement | null>, rows: readonly Line[]): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const was = before.current;
    before.current = rows;
    const index = Math.floor((frame.current?.scrollTop ?? 0) / rowHeight);
    const held = was[index];
    if (!frame.current || was === rows || index === 0 || held === undefined) return;
    const now = rows.findIndex((line) => keyOf(line) === keyOf(held));
    if (now > index) frame.current.scrollTop += (now - index) * rowHeight;
  }, [frame, rows]);
}

export function LogTable({ lines, onOpen, onEnd, onFill }: Props) {
  const { t } = useTranslation('logs');
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: lines.length, getScrollElement: () => frame.current, estimateSize: () => rowHeight, overscan: 12 });
  useHeldPlace(frame, lines);
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lines.length > 0 && last >= lines.length - 20) onEnd();
  }, [last, lines.length, onEnd]);
  const line = { display: 'grid', gridTemplateColumns: widths, gap: 10, alignItems: 'center', minWidth: 900, padding: '0 16px' } as const;
  return (
    <Box
      ref={frame}
      style={{ overflow: 'auto', height: 'calc(100vh - 380px)', minHeight: 320 }}
      role="table"
      aria-label={t('title')}
      aria-rowcount={lines.length}
      tabIndex={0}
    >
      <Box
        role="row"
        style={{
          ...line,
          position: 'sticky',
          top: 0,
          height: 36,
          zIndex: 1,
          background: 'var(--mantine-color-body)',
          borderBottom: '1px solid var(--mantine-color-default-border)',
        }}
      >
        {columns.map((name) => (
          <Text key={name} role="columnheader" size="sm" fw={600} className={numeric.has(name) ? 'numeric' : undefined}>
            {t(`column.${name}`)}
          </Text>
        ))}
      </Box>
      <Box role="rowgroup" style={{ position: 'relative', height: virtual.getTotalSize(), minWidth: 900 }}>
        {shown.map(({ index, start }) => {
          const row = lines[index]!;
          const place = { position: 'absolute', top: 0, left: 0, right: 0, height: rowHeight, transform: `translateY(${start}px)` } as const;
          if (isGap(row))
            return (
              <UnstyledButton key="gap" role="row" aria-rowindex={index + 1} onClick={onFill} className="clickable-row" style={{ ...place, padding: '0 16px' }}>
                <Text role="cell" component="div" size="sm" c="orange" fs="italic">
                  {t('gap', { count: row.gap, text: formatNumber(row.gap) })}
                </Text>
              </UnstyledButton>
            );
          return (
            <UnstyledButton
              key={row.id}
              role="row"
              aria-rowindex={index + 1}
              onClick={() => onOpen(row)}
              className="clickable-row log-line"
              style={{ ...line, ...place }}
            >
              {columns.map((name) => (
                <Cell key={name} name={name} row={row} />
              ))}
            </UnstyledButton>
          );
        })}
      </Box>
    </Box>
  );
}

function Cell({ name, row }: { name: (typeof columns)[number]; row: LogRow }) {
  const content = cells[name](row);
  return (
    <Text
      component="div"
      role="cell"
      size="sm"
      truncate
      className={numeric.has(name) ? 'numeric' : undefined}
      title={typeof content === 'string' ? content : undefined}
    >
      {content}
    </Text>
  );
}
