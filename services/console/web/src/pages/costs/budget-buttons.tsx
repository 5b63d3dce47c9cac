/** More money for the present period of a budget, or a new start of it. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { BudgetStatus } from '@model-gateway/console/answers';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { ask } from '../../components/ask.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { useOverlayOpen } from '../../components/dialogs.tsx';
import { formatMoney } from '../../components/format.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { useIsAdmin } from '../../session/use-me.ts';

type Owner = Pick<BudgetStatus, 'kind' | 'name' | 'currency' | 'spent_micros'>;

export function BudgetButtons({ budget }: { budget: Owner }) {
  const { t } = useTranslation('costs');
  const isAdmin = useIsAdmin();
  const { name, currency, spent_micros } = budget;
  const reset = useCredit(budget, 'reset');
  if (!isAdmin) return null;
  const onReset = () =>
    ask({
      title: t('resetTitle', { name }),
      children: <Text size="sm">{t('resetHint', { amount: formatMoney(spent_micros, currency) })}</Text>,
      labels: { confirm: t('reset'), cancel: t('common:actions.cancel') },
      onConfirm: () => reset.mutate(undefined, { onError: describeFault }),
    });
  return (
    <>
      <TopUpButton budget={budget} />
      <Button size="compact-xs" variant="default" loading={reset.isPending} disabled={spent_micros === 0} onClick={onReset} aria-label={t('resetOf', { name })}>
        {t('reset')}
      </Button>
    </>
  );
}

/** Asks for an amount and adds it. */
export function TopUpButton({ budget, size = 'compact-xs' }: { budget: Owner; size?: string }) {
  const { t } = useTranslation('costs');
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button size={size} variant="default" onClick={() => setOpened(true)} aria-label={t('topUpOf', { name: budget.name })}>
        {t('topUp')}
      </Button>
      {opened && <TopUpDialog budget={budget} onClose={() => setOpened(false)} />}
    </>
  );
}

function TopUpDialog({ budget, onClose }: { budget: Owner; onClose: () => void }) {
  useReturnFocus();
  const { t } = useTranslation('costs');
  const [amount, setAmount] = useState('');
  const isCovered = useOverlayOpen();
  const topUp = useCredit(budget, 'top-up');
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    topUp.mutate({ amount: amount.trim() }, { onSuccess: onClose });
  };
  const fault = topUp.error instanceof ApiProblem ? (topUp.error.details[0]?.message ?? topUp.error.message) : topUp.error?.message;
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnEscape={!isCovered}
      title={t('topUpTitle', { name: budget.name })}
      closeButtonProps={{ 'aria-label': t('common:actions.close') }}
    >
      <form onSubmit={onSubmit}>
        <Stack>
          <TextInput
            data-autofocus
            inputMode="decimal"
            label={t('topUpAmount', { currency: budget.currency })}
            description={t('topUpHint')}
            value={amount}
            error={fault}
            onChange={(event) => setAmount(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('common:actions.cancel')}
            </Button>
            <Button type="submit" loading={topUp.isPending} disabled={amount.trim() === ''}>
              {t('topUp')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function useCredit({ kind, name }: Owner, what: 'top-up' | 'reset') {
  const { t } = useTranslation('costs');
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { amount: string } | undefined) =>
      call<BudgetStatus>(path('budgets', kind, name, what), { method: 'POST', ...(body !== undefined && { body }) }),
    onSuccess: ({ spent_micros, limit_micros, currency }) => {
      notifications.show({
        message: t('credited', { name, spent: formatMoney(spent_micros, currency), limit: formatMoney(limit_micros, currency) }),
        color: 'green',
      });
      return client.invalidateQueries();
    },
  });
}
