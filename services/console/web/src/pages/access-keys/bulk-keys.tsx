/** What is done to several access keys at once: another group, more tags, a later end. */
import { Button, Group, Modal, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { BulkActions } from '../../components/bulk-bar.tsx';
import { useOverlayOpen } from '../../components/dialogs.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import type { AccessKey } from './access-key.ts';

type Actions = BulkActions<AccessKey>;
const dialogs = { group: MoveDialog, tag: TagDialog, extend: ExtendDialog } as const;

export function BulkKeys(actions: Actions) {
  const { t } = useTranslation('bulk');
  const [opened, setOpened] = useState<keyof typeof dialogs | null>(null);
  const Dialog = opened && dialogs[opened];
  return (
    <>
      {(['group', 'tag', 'extend'] as const).map((name) => (
        <Button key={name} size="compact-sm" variant="default" disabled={actions.busy} onClick={() => setOpened(name)}>
          {t(name)}
        </Button>
      ))}
      {Dialog && <Dialog {...actions} onClose={() => setOpened(null)} />}
    </>
  );
}

type DialogProps = Actions & { onClose: () => void };

function MoveDialog({ change, onClose }: DialogProps) {
  const { t } = useTranslation('bulk');
  const [group, setGroup] = useState<string | null>(null);
  return (
    <BulkDialog
      title={t('group')}
      hint={t('fields:access_key.group')}
      ready={group !== null}
      onClose={onClose}
      onDo={() => change((key) => (key.group === group ? null : { group }))}
    >
      <NameSelect resource="key-groups" label={t('toGroup')} value={group} onChange={setGroup} />
    </BulkDialog>
  );
}

function TagDialog({ change, onClose }: DialogProps) {
  const { t } = useTranslation('bulk');
  const [add, setAdd] = useState<string[]>([]);
  const [remove, setRemove] = useState<string[]>([]);
  const next = ({ tags }: AccessKey): string[] => [...new Set([...tags, ...add])].filter((tag) => !remove.includes(tag));
  return (
    <BulkDialog
      title={t('tag')}
      ready={add.length + remove.length > 0}
      onClose={onClose}
      onDo={() =>
        change((key) => {
          const tags = next(key);
          return tags.length === key.tags.length && tags.every((tag) => key.tags.includes(tag)) ? null : { tags };
        })
      }
    >
      <TagsInput label={t('addTags')} value={add} onChange={setAdd} />
      <TagsInput label={t('removeTags')} value={remove} onChange={setRemove} />
    </BulkDialog>
  );
}

function ExtendDialog({ change, onClose }: DialogProps) {
  const { t } = useTranslation('bulk');
  const [until, setUntil] = useState('');
  return (
    <BulkDialog
      title={t('extend')}
      hint={t('extendHint')}
      ready
      onClose={onClose}
      onDo={() => {
        const expires_at = until === '' ? null : new Date(until).toISOString();
        change((key) => (key.expires_at === expires_at ? null : { expires_at }));
      }}
    >
      <TextInput type="datetime-local" label={t('until')} value={until} onChange={(event) => setUntil(event.currentTarget.value)} />
    </BulkDialog>
  );
}

interface BulkDialogProps {
  title: string;
  hint?: string;
  ready: boolean;
  onClose: () => void;
  onDo: () => void;
  children: ReactNode;
}

function BulkDialog({ title, hint, ready, onClose, onDo, children }: BulkDialogProps) {
  useReturnFocus();
  const { t } = useTranslation('bulk');
  const { t: common } = useTranslation();
  const isCovered = useOverlayOpen();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    onDo();
    onClose();
  };
  return (
    <Modal opened onClose={onClose} closeOnEscape={!isCovered} title={title} closeButtonProps={{ 'aria-label': common('actions.close') }}>
      <form onSubmit={onSubmit}>
        <Stack>
          {hint && (
            <Text size="sm" c="dimmed">
              {hint}
            </Text>
          )}
          {children}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {common('actions.cancel')}
            </Button>
            <Button type="submit" disabled={!ready}>
              {t('do')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
