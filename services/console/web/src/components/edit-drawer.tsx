/** A form in a drawer: saves by the API, puts each fault at its field, and does not lose typed text by a slip. */
import { Alert, Box, Button, Drawer, Group, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiProblem, type FieldFault } from '../api/problem.ts';
import { useIsAdmin } from '../session/use-me.ts';
import { ask } from './ask.ts';
import { useOverlayOpen } from './dialogs.tsx';
import { ReadOnlyForm } from './editable.tsx';
import { useReturnFocus } from './use-return-focus.ts';

interface Props<V> {
  title: string;
  opened: boolean;
  onClose: () => void;
  form: UseFormReturnType<V>;
  /** Nothing is saved before the form holds what is stored. */
  isReady: boolean;
  /** Sends the values; resolves when they are stored. */
  onSave: (values: V) => Promise<unknown>;
  /** Said after it. */
  savedMessage?: string;
  /** Somebody changed it meanwhile. Without it the plain sentence is shown. */
  onConflict?: () => Promise<void>;
  /** Above the buttons. */
  notice?: ReactNode;
  children: ReactNode;
  /** Buttons beside save, such as delete. */
  actions?: ReactNode;
  size?: string | number;
}

export function EditDrawer<V extends Record<string, unknown>>({
  title,
  opened,
  onClose,
  form,
  isReady,
  onSave,
  savedMessage,
  onConflict,
  notice,
  children,
  actions,
  size = 'lg',
}: Props<V>) {
  const { t } = useTranslation();
  const isAdmin = useIsAdmin();
  const [busy, setBusy] = useState(false);
  const [others, setOthers] = useState<Unplaced | null>(null);

  useReturnFocus();
  const isCovered = useOverlayOpen();
  const fields = useRef<HTMLDivElement>(null);
  // Leaving by the address bar, the back button or a link asks as well.
  useBlocker({
    shouldBlockFn: () => form.isDirty() && !confirm(`${t('unsaved.title')} ${t('unsaved.hint')}`),
    enableBeforeUnload: () => form.isDirty(),
  });
  useFocusFault(fields, form.errors);

  const leave = () => {
    if (!form.isDirty()) return onClose();
    ask({
      title: t('unsaved.title'),
      children: <Text size="sm">{t('unsaved.hint')}</Text>,
      labels: { confirm: t('unsaved.discard'), cancel: t('unsaved.stay') },
      confirmProps: { color: 'red.9' },
      onConfirm: onClose,
    });
  };

  const refuseIncomplete = (event: FormEvent): boolean => {
    const incomplete = incompleteFields(fields.current);
    if (incomplete.length === 0) return false;
    event.preventDefault();
    form.setErrors(Object.fromEntries(incomplete.map((path) => [path, t('fault.incompleteTime')])));
    return true;
  };

  const submit = async (values: V) => {
    setBusy(true);
    setOthers(null);
    try {
      await onSave(values);
      form.resetDirty();
      notifications.show({ message: savedMessage ?? t('saved'), color: 'green' });
      onClose();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // What is there now may be out of reach by then, or gone.
      if (onConflict && error instanceof ApiProblem && error.status === 412)
        await onConflict().catch((fault: Error) => setOthers(placeFaults(form, fault, t('conflict'))));
      else setOthers(placeFaults(form, error, t('conflict')));
    } finally {
      setBusy(false);
    }
  };

  const send = form.onSubmit(submit);

  return (
    <Drawer
      opened={opened}
      onClose={leave}
      closeOnEscape={!isCovered}
      position="right"
      size={size}
      title={title}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      <form onSubmit={(event) => refuseIncomplete(event) || send(event)} noValidate>
        <Stack pb={72} ref={fields}>
          {!isAdmin && <Alert color="gray">{t('readOnly')}</Alert>}
          <ReadOnlyForm value={!isAdmin}>{children}</ReadOnlyForm>
        </Stack>
        <Box pos="sticky" bottom={0} py="md" bg="var(--mantine-color-body)" style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
          {/* Where it is seen, however long the form is. */}
          {notice}
          {others && <UnplacedFaults {...others} />}
          <Buttons actions={isAdmin && actions} onCancel={leave} isBusy={busy} isReady={isAdmin && isReady} />
        </Box>
      </form>
    </Drawer>
  );
}

function Buttons({ actions, onCancel, isBusy, isReady }: { actions: ReactNode; onCancel: () => void; isBusy: boolean; isReady: boolean }) {
  const { t } = useTranslation();
  return (
    <Group justify="space-between">
      <Group gap="xs">{actions}</Group>
      <Group gap="xs">
        <Button variant="default" onClick={onCancel}>
          {t('actions.cancel')}
        </Button>
        <Button type="submit" loading={isBusy} disabled={!isReady}>
          {t('actions.save')}
        </Button>
      </Group>
    </Group>
  );
}

/** The first fault is brought into view, also one in a section that opens for it. */
function useFocusFault(fields: RefObject<HTMLElement | null>, errors: Record<string, unknown>): void {
  useEffect(() => {
    if (Object.keys(errors).length === 0) return;
    const timer = setTimeout(() => fields.current?.querySelector<HTMLElement>('[aria-invalid="true"], input[data-error], [data-error] input')?.focus(), 250);
    return () => clearTimeout(timer);
  }, [fields, errors]);
}

/** Paths of dates without their time: such a field has no value, as an empty one has none, and is not saved as one. */
const incompleteFields = (fields: HTMLElement | null): string[] =>
  [...(fields?.querySelectorAll('input') ?? [])].filter(({ validity }) => validity.badInput).map(({ dataset }) => dataset['path'] ?? '');

/** What could not be put at a field. */
interface Unplaced {
  message: string;
  details: readonly FieldFault[];
}

function UnplacedFaults({ message, details }: Unplaced) {
  return (
    <Alert color="red" role="alert" mb="md" mah="30vh" style={{ overflow: 'auto' }}>
      <Text size="sm">{message}</Text>
      {details.map(({ field, message: fault }) => (
        <Text key={field} size="sm">
          <b className="mono">{field}</b> {fault}
        </Text>
      ))}
    </Alert>
  );
}

/** Faults of fields that the form shows go there; the rest is returned. A fault below a field (`api_keys.0.key`) counts as the field's own when that has no place. */
function placeFaults<V extends Record<string, unknown>>(form: UseFormReturnType<V>, error: Error, conflict: string) {
  if (!(error instanceof ApiProblem)) return { message: error.message, details: [] };
  const message = error.status === 412 ? conflict : error.message;
  const known = new Set(Object.keys(form.getValues()));
  const placed = error.details.filter(({ field }) => known.has(field.split('.')[0] ?? ''));
  form.setErrors(
    Object.fromEntries(placed.flatMap(({ field, message: fault }) => [...above(field).map((place) => [place, `${field}: ${fault}`]), [field, fault]])),
  );
  const unplaced = error.details.filter((detail) => !placed.includes(detail));
  // What all stands at its field needs no second place.
  return placed.length > 0 && unplaced.length === 0 ? null : { message, details: unplaced };
}

/** `dns` and `dns.servers` of `dns.servers.0`: whichever of them the form shows. */
const above = (field: string): string[] => {
  const parts = field.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
};
