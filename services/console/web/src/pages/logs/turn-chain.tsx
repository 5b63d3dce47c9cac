/** The stored turn that a request made and those it goes on from: when, by which request, with how many tokens; what they hold where admins may read it. */
import { ActionIcon, Anchor, Badge, Button, Group, Loader, Stack, Table, Text, Title } from '@mantine/core';
import type { TurnChain } from '@model-gateway/console/answers';
import { IconTrash } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useDeleteTurn, useTurnChain, useTurnContent } from '../../api/turns.ts';
import { ask } from '../../components/ask.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatMoney, formatNumber, formatTime } from '../../components/format.ts';
import { Snippet } from '../../components/snippet.tsx';
import { useIsAdmin } from '../../session/use-me.ts';

type Turn = TurnChain['items'][number];

export function TurnChainSection({ requestId }: { requestId: string }) {
  const { t } = useTranslation('logs');
  const chain = useTurnChain(requestId, true);
  return (
    <section aria-label={t('turns.title')}>
      <Title order={3} mb="xs">
        {t('turns.title')}
      </Title>
      {chain.isPending && <Loader size="sm" />}
      {chain.isError && <FaultNotice error={chain.error} onRetry={() => chain.refetch()} />}
      {chain.data && chain.data.items.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('turns.none')}
        </Text>
      )}
      {chain.data && chain.data.items.length > 0 && <Chain chain={chain.data} requestId={requestId} />}
    </section>
  );
}

function Chain({ chain: { items, has_more, access_key, readable }, requestId }: { chain: TurnChain; requestId: string }) {
  const { t } = useTranslation('logs');
  const isAdmin = useIsAdmin();
  const content = useTurnContent();
  const accessKey = isAdmin ? access_key : null;
  return (
    <Stack gap="xs">
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={t('turns.title')} horizontalSpacing={5} fz="sm">
          <Table.Thead>
            <Table.Tr>
              {(['id', 'time', 'model', 'status'] as const).map((name) => (
                <Table.Th key={name}>{t(`turns.column.${name}`)}</Table.Th>
              ))}
              <Table.Th className="numeric">{t('column.tokens')}</Table.Th>
              <Table.Th className="numeric">{t('column.cost')}</Table.Th>
              {accessKey !== null && <Table.Th aria-label={t('turns.column.actions')} />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((turn) => (
              <Row
                key={turn.id}
                turn={turn}
                isOpen={turn.request_id === requestId}
                accessKey={accessKey}
                onShow={readable ? (owned) => content.mutate(owned) : null}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" c="dimmed">
        {has_more && `${t('turns.more', { count: items.length })} `}
        {isAdmin ? t(readable ? 'turns.readable' : 'turns.unreadable') : t('turns.adminsOnly')}
      </Text>
      {content.isPending && <Loader size="sm" />}
      {content.isError && <FaultNotice error={content.error} />}
      {content.data && (
        <>
          <Snippet title={t('turns.input', { id: content.data.id })} text={JSON.stringify(content.data.input, null, 2)} />
          <Snippet title={t('turns.response', { id: content.data.id })} text={JSON.stringify(content.data.response, null, 2)} />
        </>
      )}
    </Stack>
  );
}

interface RowProps {
  turn: Turn;
  /** It is the turn of the request whose page this is. */
  isOpen: boolean;
  /** null: the viewer changes nothing. */
  accessKey: string | null;
  /** null: what turns hold is not shown. */
  onShow: ((turn: { accessKey: string; id: string }) => void) | null;
}

const colors: Partial<Record<Turn['status'], string>> = { completed: 'green', failed: 'red', incomplete: 'orange' };

function Row({ turn, isOpen, accessKey, onShow }: RowProps) {
  const { t } = useTranslation('logs');
  const { request } = turn;
  return (
    <Table.Tr>
      <Table.Td className="mono" style={{ overflowWrap: 'anywhere' }}>
        {request === null || isOpen ? (
          turn.id
        ) : (
          <Anchor
            component={Link}
            inherit
            to="/logs"
            search={((search: object) => ({ ...search, request: turn.request_id })) as never}
            title={t('turns.toRequest', { id: turn.request_id })}
          >
            {turn.id}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td>{formatTime(turn.created_at)}</Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{turn.model}</Table.Td>
      <Table.Td>
        <Group gap={4}>
          <Badge variant="light" tt="none" color={turn.deleted ? 'gray' : (colors[turn.status] ?? 'blue')}>
            {t(turn.deleted ? 'turns.deleted' : `turns.status.${turn.status}`)}
          </Badge>
          {turn.background && <Badge variant="default">{t('turns.background')}</Badge>}
          {turn.upstream && <Badge variant="default">{t('turns.atUpstream', { name: turn.upstream })}</Badge>}
        </Group>
      </Table.Td>
      <Table.Td className="numeric">{request ? `${formatNumber(inputOf(request))} → ${formatNumber(request.output_tokens)}` : '–'}</Table.Td>
      <Table.Td className="numeric">{request ? formatMoney(request.cost_micros, request.currency) : '–'}</Table.Td>
      {accessKey !== null && (
        <Table.Td>{!turn.deleted && <Actions turn={{ accessKey, id: turn.id }} onShow={turn.upstream === null ? onShow : null} />}</Table.Td>
      )}
    </Table.Tr>
  );
}

const inputOf = ({ input_tokens, cache_read_tokens, cache_write_tokens }: NonNullable<Turn['request']>): number =>
  input_tokens + cache_read_tokens + cache_write_tokens;

function Actions({ turn, onShow }: { turn: { accessKey: string; id: string }; onShow: RowProps['onShow'] }) {
  const { t } = useTranslation('logs');
  const { t: common } = useTranslation();
  const remove = useDeleteTurn();
  const onAsk = () =>
    ask({
      title: t('turns.deleteTitle', { id: turn.id }),
      children: <Text size="sm">{t('turns.deleteHint')}</Text>,
      labels: { confirm: common('actions.delete'), cancel: common('actions.cancel') },
      confirmProps: { color: 'red.9' },
      onConfirm: () => remove.mutate(turn, { onError: describeFault }),
    });
  return (
    <Stack gap={2} align="flex-end">
      {onShow && (
        <Button size="compact-xs" variant="light" aria-label={t('turns.showOf', { id: turn.id })} onClick={() => onShow(turn)}>
          {t('turns.show')}
        </Button>
      )}
      <ActionIcon variant="subtle" color="red" aria-label={t('turns.delete', { id: turn.id })} loading={remove.isPending} onClick={onAsk}>
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </Stack>
  );
}
