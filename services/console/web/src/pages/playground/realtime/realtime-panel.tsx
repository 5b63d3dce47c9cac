/** A realtime session by hand: text or the microphone in, words and sound out, and what became of it. */
import { Alert, Anchor, Badge, Button, Card, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconMicrophone, IconPlayerPlay, IconPlayerStop, IconSend } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultNotice } from '../../../components/fault-notice.tsx';
import { useKept } from '../../../components/use-kept.ts';
import { type Shown, useRealtimeSession } from './use-session.ts';

interface Props {
  model: string;
  keyName: string | null;
  obstacle: string | null;
  /** Shows the frames beside. */
  children: (frames: Shown['frames']) => ReactNode;
}

/** Of samples that vendors take, in a second. */
const rates = ['24000', '16000'] as const;

export function RealtimePanel({ model, keyName, obstacle, children }: Props) {
  const { t } = useTranslation('playground');
  const { shown, recording, begin, leave, startRecording, stopRecording, say } = useRealtimeSession();
  const [rate, setRate] = useState<string>(rates[0]);
  const [text, setText] = useKept('playground realtime', '');
  const hindrance = obstacle ?? (keyName === null ? t('realtime.needsKey') : null);
  const isOpen = shown.state === 'open';
  const send = () => {
    if (!isOpen || text.trim() === '') return;
    say(text);
    setText('');
  };
  return (
    <>
      <Card withBorder>
        <Stack>
          <Text size="sm" c="dimmed">
            {t('realtime.hint')}
          </Text>
          <Group align="end">
            {isOpen ? (
              <Button variant="default" leftSection={<IconPlayerStop size={16} aria-hidden />} onClick={leave}>
                {t('realtime.close')}
              </Button>
            ) : (
              <Button
                leftSection={<IconPlayerPlay size={16} aria-hidden />}
                loading={shown.state === 'opening'}
                disabled={hindrance !== null}
                onClick={() => keyName !== null && void begin(model, keyName)}
              >
                {t('realtime.open')}
              </Button>
            )}
            <Select
              label={t('realtime.rate')}
              allowDeselect={false}
              disabled={recording}
              data={rates.map((value) => ({ value, label: t('realtime.hertz', { value: Number(value) / 1000 }) }))}
              value={rate}
              onChange={(value) => value && setRate(value)}
              w={190}
            />
            <Button
              variant={recording ? 'filled' : 'default'}
              color={recording ? 'red.9' : undefined}
              leftSection={<IconMicrophone size={16} aria-hidden />}
              disabled={!isOpen}
              onClick={() => (recording ? stopRecording() : void startRecording(Number(rate)))}
            >
              {t(recording ? 'realtime.stopRecording' : 'realtime.record')}
            </Button>
          </Group>
          {hindrance && (
            <Text size="sm" c="dimmed">
              {hindrance}
            </Text>
          )}
          <form
            onSubmit={(event) => {
              event.preventDefault();
              send();
            }}
          >
            <Group align="end" wrap="nowrap">
              <TextInput label={t('message')} style={{ flex: 1 }} value={text} disabled={!isOpen} onChange={(event) => setText(event.currentTarget.value)} />
              <Button type="submit" leftSection={<IconSend size={16} aria-hidden />} disabled={!isOpen || text.trim() === ''}>
                {t('send')}
              </Button>
            </Group>
          </form>
          <Stack gap="xs" aria-live="polite">
            <Group gap="xs">
              <Badge variant="light" tt="none" color={isOpen ? 'green' : 'gray'}>
                {t(`realtime.state.${shown.state}`)}
              </Badge>
              {shown.playedSeconds > 0 && <Text size="sm">{t('realtime.heard', { seconds: shown.playedSeconds.toFixed(1) })}</Text>}
            </Group>
            {shown.text && (
              <Text component="section" aria-label={t('answer')} style={{ whiteSpace: 'pre-wrap' }}>
                {shown.text}
              </Text>
            )}
            {shown.fault && <FaultNotice error={shown.fault} />}
            {shown.end && <EndNotice end={shown.end} />}
          </Stack>
        </Stack>
      </Card>
      {children(shown.frames)}
    </>
  );
}

/** Browsers do not tell why a handshake was refused: the request log does. */
function EndNotice({ end: { code, reason } }: { end: NonNullable<Shown['end']> }) {
  const { t } = useTranslation('playground');
  return (
    <Alert color={code === 1000 ? 'blue' : 'orange'} variant="light">
      {code === null ? t('realtime.refused') : t('realtime.ended', { code, reason: reason || '–' })}{' '}
      <Anchor component={Link} to="/logs" inherit>
        {t('realtime.toLogs')}
      </Anchor>
    </Alert>
  );
}
