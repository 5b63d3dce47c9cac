/** The responses of a realtime session: what each used of text and of sound, and what it cost. */
import { Anchor, Loader, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { LogRow } from '../../api/stats.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatMoney, formatNumber, formatTime } from '../../components/format.ts';

const maxShown = 200;
/** Rows of a session's last responses may begin a moment after it was recorded to end. */
const marginMs = 5000;

/** Rows are found by the session's id, which may be one that its client gave to several sessions. */
const useResponses = ({ id, session_id, started_at, duration_ms, access_key }: LogRow) =>
  useQuery({
    queryKey: ['logs', 'responses', id],
    async queryFn({ signal }) {
      const query = { session_id, access_key, from: started_at, to: started_at + duration_ms + marginMs, limit: 500 };
      const { items } = await call<{ items: LogRow[] }>('logs', { query, signal });
      return items.filter(({ kind }) => kind === 'realtime_turn');
    },
  });

const buckets: Record<'textIn' | 'audioIn' | 'textOut' | 'audioOut', (row: LogRow) => number> = {
  textIn: ({ input_tokens, cache_read_tokens }) => input_tokens + cache_read_tokens,
  audioIn: ({ audio_input_tokens }) => audio_input_tokens ?? 0,
  textOut: ({ output_tokens }) => output_tokens,
  audioOut: ({ audio_output_tokens }) => audio_output_tokens ?? 0,
};
const names = Object.keys(buckets) as (keyof typeof buckets)[];

export function SessionResponses({ row }: { row: LogRow }) {
  const { t } = useTranslation('logs');
  const { data, isPending, error, refetch } = useResponses(row);
  return (
    <section aria-label={t('responses.title')}>
      <Title order={3} mb="xs">
        {t('responses.title')}
      </Title>
      {isPending && <Loader size="sm" />}
      {error && <FaultNotice error={error} onRetry={() => refetch()} />}
      {data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('responses.none')}
        </Text>
      )}
      {data && data.length > 0 && <Responses rows={data} />}
    </section>
  );
}

function Responses({ rows }: { rows: readonly LogRow[] }) {
  const { t } = useTranslation('logs');
  return (
    <>
      <Table.ScrollContainer minWidth={480}>
        <Table aria-label={t('responses.title')} horizontalSpacing={4} fz="xs" className="compact">
          <Table.Thead>
            <Table.Tr>
              {(['response', 'time', 'status'] as const).map((name) => (
                <Table.Th key={name}>{t(`responses.column.${name}`)}</Table.Th>
              ))}
              {[...names, 'cost' as const].map((name) => (
                <Table.Th key={name} className="numeric">
                  {t(`responses.column.${name}`)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, maxShown).map((row, at) => (
              <Response key={row.id} row={row} number={rows.length - at} />
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th colSpan={3}>{t('responses.total')}</Table.Th>
              {names.map((name) => (
                <Table.Td key={name} className="numeric">
                  {formatNumber(rows.reduce((sum, row) => sum + buckets[name](row), 0))}
                </Table.Td>
              ))}
              <Table.Td className="numeric">{sumOf(rows)}</Table.Td>
            </Table.Tr>
          </Table.Tfoot>
        </Table>
      </Table.ScrollContainer>
      {rows.length > maxShown && (
        <Text size="sm" c="dimmed">
          {t('responses.more', { count: maxShown })}
        </Text>
      )}
    </>
  );
}

function Response({ row, number }: { row: LogRow; number: number }) {
  const { t } = useTranslation('logs');
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} inherit to="/logs" search={((search: object) => ({ ...search, request: row.id })) as never}>
          {t('responses.toResponse', { number })}
        </Anchor>
      </Table.Td>
      <Table.Td>{formatTime(row.started_at)}</Table.Td>
      <Table.Td>{row.error_code ?? t('responses.completed')}</Table.Td>
      {names.map((name) => (
        <Table.Td key={name} className="numeric">
          {formatNumber(buckets[name](row))}
        </Table.Td>
      ))}
      <Table.Td className="numeric">{formatMoney(row.cost_micros, row.currency)}</Table.Td>
    </Table.Tr>
  );
}

/** In one currency, which is that of the session's model. */
function sumOf(rows: readonly LogRow[]): string {
  const priced = rows.filter(({ cost_micros }) => cost_micros !== null);
  const [first] = priced;
  return first
    ? formatMoney(
        priced.reduce((sum, { cost_micros }) => sum + (cost_micros ?? 0), 0),
        first.currency,
      )
    : '–';
}
