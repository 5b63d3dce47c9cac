/** One real question to the new model, its answer shown as it comes. */
import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { playgroundDialects } from '@model-gateway/protocols/playground';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useKept } from '../../components/use-kept.ts';
import { Conversation } from '../playground/conversation.tsx';
import { defaultSettings } from '../playground/settings.tsx';
import { usePlayground } from '../playground/use-playground.ts';

export function TryStep({ model, onDone }: { model: string; onDone: () => void }) {
  const { t } = useTranslation('start');
  const [text, setText] = useKept('start message', t('try.prompt'));
  const { turns, busy, ask } = usePlayground('start turns');
  const last = turns.at(-1);
  const answered = !busy && last?.role === 'assistant' && last.error === null;
  const run = () =>
    ask({
      dialect: playgroundDialects[0]!,
      keyName: null,
      settings: { model, system: '', tools: [], maxTokens: defaultSettings.maxTokens, temperature: null, stream: true },
      text,
      images: [],
    });
  return (
    <Stack mt="md">
      <Text>{t('try.hint', { model })}</Text>
      {turns.length > 0 && <Conversation turns={turns} busy={busy} />}
      <Textarea label={t('try.message')} autosize minRows={1} value={text} onChange={(event) => setText(event.currentTarget.value)} />
      <Group justify="space-between">
        <Button
          variant={answered ? 'light' : 'filled'}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={busy}
          disabled={text.trim() === ''}
          onClick={run}
        >
          {t('try.run')}
        </Button>
        <Button variant={answered ? 'filled' : 'subtle'} disabled={busy} onClick={onDone}>
          {t(answered ? 'try.next' : 'try.skip')}
        </Button>
      </Group>
    </Stack>
  );
}
