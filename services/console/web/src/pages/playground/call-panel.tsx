/** A call of one question and one answer: its form, and what came of it. */
import { Card, Loader, Stack } from '@mantine/core';
import type { PlaygroundCall } from '@model-gateway/protocols/playground';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { revealKey } from '../../api/access-key-value.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { CallForm, lines, type Question } from './call-form.tsx';
import { CallResults } from './call-results.tsx';
import { type CallOutcome, makeCall, release } from './make-call.ts';
import type { CallRecord } from './run-call.ts';

interface Props {
  call: PlaygroundCall;
  model: string;
  keyName: string | null;
  obstacle: string | null;
  onRecord: (record: CallRecord | null) => void;
}

/** What is shown below the form. */
interface Shown {
  outcome: CallOutcome | null;
  fault: Error | null;
  sent: readonly string[];
}

const nothing: Shown = { outcome: null, fault: null, sent: [] };

export function CallPanel({ call, model, keyName, obstacle, onRecord }: Props) {
  const { t } = useTranslation('playground');
  const [shown, setShown] = useState<Shown>(nothing);
  const [busy, setBusy] = useState(false);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => () => release(shown.outcome), [shown.outcome]);

  const send = async (question: Question, file: File | null) => {
    const stop = new AbortController();
    running.current = stop;
    setBusy(true);
    setShown(nothing);
    onRecord(null);
    const sent = call.fields.includes('documents') ? question.documents : lines(question.text);
    try {
      const key = keyName === null ? null : await revealKey(keyName);
      const outcome = await makeCall({ call, input: { ...question, model }, file, key, signal: stop.signal });
      if (stop.signal.aborted) return release(outcome);
      setShown({ outcome, fault: null, sent });
      onRecord(outcome.record);
    } catch (error) {
      if (!stop.signal.aborted) setShown({ outcome: null, fault: error instanceof Error ? error : new Error(String(error)), sent });
    } finally {
      setBusy(false);
    }
  };

  return (
    <Card withBorder>
      <Stack>
        <CallForm call={call} busy={busy} obstacle={obstacle} onSend={send} onStop={() => running.current?.abort()} />
        <Stack aria-live="polite" gap="sm">
          {busy && <Loader size="sm" type="dots" aria-label={t('waitingForAnswer')} />}
          {shown.fault && <FaultNotice error={shown.fault} />}
          {shown.outcome && <CallResults outcome={shown.outcome} sent={shown.sent} />}
        </Stack>
      </Stack>
    </Card>
  );
}
