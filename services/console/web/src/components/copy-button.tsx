/** Copies a text and says so. Works without the clipboard API too, which browsers withhold on plain http. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** `text` may be asked for when the button is pressed: a secret is then fetched only for the copy. */
export function CopyButton({ text, label }: { text: string | (() => Promise<string>); label?: string }) {
  const { t } = useTranslation();
  const clipboard = useClipboard({ timeout: 1500 });
  const copy = async () => {
    const value = typeof text === 'string' ? text : await text();
    if (navigator.clipboard) clipboard.copy(value);
    else copyBySelection(value, () => clipboard.copy(value));
  };
  const name = clipboard.copied ? t('actions.copied') : (label ?? t('actions.copy'));
  return (
    <Tooltip label={name}>
      <ActionIcon color={clipboard.copied ? 'green' : 'gray'} onClick={copy} aria-label={name}>
        {clipboard.copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}

function copyBySelection(value: string, done: () => void): void {
  const area = document.createElement('textarea');
  area.value = value;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  done();
}
