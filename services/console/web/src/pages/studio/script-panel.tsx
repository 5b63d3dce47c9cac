/** A script is written here and tried on a body. */
import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import type { ScriptSlot } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../components/code-editor.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { formatNumber } from '../../components/format.ts';
import { type StoredRewriting, scriptSlots } from '../../components/rewriting.ts';
import { useKept } from '../../components/use-kept.ts';
import { useScriptCompletions } from '../../components/use-script-completions.ts';
import { BodyEditor } from './body-editor.tsx';
import { print, readObject } from './body-text.ts';
import { ContextFields } from './context-fields.tsx';
import { ResultCard } from './result-card.tsx';
import { firstProtocol, type Sample, sampleText } from './samples.ts';
import { contextBody, faultyFields, firstContext } from './script-context.ts';
import { ScriptFaultNotice } from './script-fault.tsx';
import { starters } from './starters.ts';
import { SentOn, Trial } from './trial.tsx';
import { useLoaded } from './use-loaded.ts';
import { useScriptTest } from './use-script-test.ts';

const firstSample: Sample = { protocol: firstProtocol, kind: 'words' };

export function ScriptPanel() {
  const { t } = useTranslation('studio');
  const [slot, setSlot] = useKept<ScriptSlot>('studio slot', 'request_transform_before');
  const [script, setScript, restored] = useKept('studio script', starters.request_transform_before);
  const [sample, setSample] = useState(firstSample);
  const [body, setBody] = useKept('studio script body', () => sampleText(firstSample));
  const [context, setContext] = useState(firstContext);
  const { mutate, isPending, data, error, variables } = useScriptTest();
  const parsed = readObject(body);
  const faulty = faultyFields(context, slot);
  // The line is that of the script that was tried, not of what was typed since.
  const line = variables?.script === script && error?.line ? error.line : null;
  const marker = useMemo(() => (line === null || !error ? null : { line, message: error.message }), [line, error]);

  const choose = (chosen: Sample, text: string, where: ScriptSlot) => {
    setSample(chosen);
    setBody(text);
    setContext((known) => ({ ...known, [where === 'request_transform_before' ? 'sourceProtocol' : 'targetProtocol']: chosen.protocol }));
  };
  const loaded = useLoaded<StoredRewriting>((stored) => {
    const first = scriptSlots.find((one) => stored[one]);
    if (!first) return;
    chooseSlot(first);
    setScript(stored[first] ?? '');
  }, restored);
  const chooseSlot = (chosen: ScriptSlot) => {
    setSlot(chosen);
    // What somebody wrote is kept; what nobody changed follows the slot.
    if (script === starters[slot]) setScript(starters[chosen]);
    const kind = chosen === 'response_transform' ? 'reply' : sample.kind === 'reply' ? 'words' : sample.kind;
    if (kind !== sample.kind) choose({ ...sample, kind }, sampleText({ ...sample, kind }), chosen);
  };
  const run = () => parsed && mutate({ script, slot, body: parsed, context: contextBody(context, slot) });

  return (
    <Stack>
      <Trial
        loaded={loaded}
        subject={<ScriptField slot={slot} onSlot={chooseSlot} script={script} onScript={setScript} marker={marker} />}
        body={
          <BodyEditor
            kinds={slot === 'response_transform' ? ['reply'] : ['words', 'tools']}
            sample={sample}
            onSample={(chosen, text) => choose(chosen, text, slot)}
            value={body}
            onRecent={({ text, protocol }) => choose({ ...sample, protocol }, text, slot)}
            onChange={setBody}
            isFaulty={parsed === null}
          />
        }
        more={{
          title: t('context'),
          content: <ContextFields slot={slot} value={context} onChange={(change) => setContext((known) => ({ ...known, ...change }))} faulty={faulty} />,
        }}
        foot={
          faulty.length > 0 && (
            <Text size="sm" c="red" role="alert">
              {t('contextFault', { fields: faulty.join(', ') })}
            </Text>
          )
        }
        onRun={run}
        isRunning={isPending}
        canRun={parsed !== null && faulty.length === 0}
      />
      {error && <ScriptFaultNotice error={error} />}
      {data && variables && (
        <ResultCard
          answer={data}
          before={print(variables.body)}
          after={print(data.result_body)}
          figures={[t('operations', { count: data.operations, amount: formatNumber(data.operations) }), t('milliseconds', { amount: data.execution_time_ms })]}
        >
          {data.use_model !== undefined && <SentOn text={t('useModel', { model: data.use_model })} />}
        </ResultCard>
      )}
    </Stack>
  );
}

interface ScriptFieldProps {
  slot: ScriptSlot;
  onSlot: (slot: ScriptSlot) => void;
  script: string;
  onScript: (script: string) => void;
  /** Line and message of the last fault; null: none. */
  marker: { line: number; message: string } | null;
}

/** Where the script runs, and its text. */
function ScriptField({ slot, onSlot, script, onScript, marker }: ScriptFieldProps) {
  const { t } = useTranslation('studio');
  const completions = useScriptCompletions();
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end" gap="xs">
        <div className="choices">
          <SegmentedControl
            aria-label={t('slot')}
            value={slot}
            onChange={(chosen) => onSlot(chosen as ScriptSlot)}
            data={scriptSlots.map((one) => ({ value: one, label: t(`slots.${one}.name`) }))}
          />
        </div>
        <Text size="sm" c="dimmed" mt={4}>
          {t(`slots.${slot}.hint`)}
        </Text>
        <CopyButton text={script} label={t('copyScript')} />
      </Group>
      <CodeEditor
        language="javascript"
        label={t('script')}
        description={t('scriptHint')}
        minHeight="300px"
        maxHeight="520px"
        value={script}
        onChange={onScript}
        completions={completions}
        marker={marker}
      />
    </Stack>
  );
}
