/** Copies a text and says so. Works without the clipboard API too, which browsers withhold on plain http. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { describeFault } from './describe-fault.ts';

const saidMs = 1_500;

/** `text` may be asked for when the button is pressed: a secret is then fetched only for the copy. */
export function CopyButton({ text, label }: { text: string | (() => Promise<string>); label?: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), saidMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      const value = typeof text === 'string' ? text : await text();
      if (!(await copyByClipboard(value)) && !copyBySelection(value)) throw new Error(t('actions.notCopied'));
      setCopied(true);
    } catch (error) {
      describeFault(error);
    }
  };
  const name = copied ? t('actions.copied') : (label ?? t('actions.copy'));
  return (
    <Tooltip label={name}>
      <ActionIcon color={copied ? 'green' : 'gray'} onClick={copy} aria-label={name}>
        {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}

/** false: the browser has no such thing on this page, or does not allow it. */
async function copyByClipboard(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    return false;
  }
}

function copyBySelection(value: string): boolean {
  const before = document.activeElement;
  const area = document.createElement('textarea');
  area.value = value;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  // The keyboard goes on where it was.
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return done;
}
