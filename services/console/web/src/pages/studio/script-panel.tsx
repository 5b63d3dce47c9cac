/** A script is written here and tried on a body. */
import { Accordion, Alert, Button, Card, Grid, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import type { ScriptSlot } from '@model-gateway/contracts';
import { IconArrowRampRight, IconPlayerPlay } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../components/code-editor.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { formatNumber } from '../../components/format.ts';
import type { StoredScripts } from '../../components/script-fields.tsx';
import { useScriptCompletions } from '../../components/use-script-completions.ts';
import { BodyEditor } from './body-editor.tsx';
import { print, readObject } from './body-text.ts';
import { ContextFields } from './context-fields.tsx';
import { ResultCard } from './result-card.tsx';
import { firstProtocol, type Sample, sampleText } from './samples.ts';
import { contextBody, faultyFields, firstContext } from './script-context.ts';
import { ScriptFaultNotice } from './script-fault.tsx';
import { scriptSlots, starters } from './starters.ts';
import { useLoaded } from './use-loaded.ts';
import { useScriptTest } from './use-script-test.ts';

const firstSample: Sample = { protocol: firstProtocol, kind: 'words' };

export function ScriptPanel() {
  const { t } = useTranslation('studio');
  const [slot, setSlot] = useState<ScriptSlot>('request_transform_before');
  const [script, setScript] = useState(starters.request_transform_before);
  const [sample, setSample] = useState(firstSample);
  const [body, setBody] = useState(() => sampleText(firstSample));
  const [context, setContext] = useState(firstContext);
  const completions = useScriptCompletions();
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
  const loaded = useLoaded<StoredScripts>((stored) => {
    const first = scriptSlots.find((one) => stored[one]);
    if (!first) return;
    chooseSlot(first);
    setScript(stored[first] ?? '');
  });
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
      {loaded !== null && (
        <Alert color="blue" variant="light">
          {t('loadedFrom', { name: loaded })}
        </Alert>
      )}
      <Card withBorder>
        <Grid>
          <Grid.Col span={{ base: 12, md: 7 }}>
            <Stack gap="sm">
              <Group justify="space-between" align="flex-end" gap="xs">
                <div className="choices">
                  <SegmentedControl
                    aria-label={t('slot')}
                    value={slot}
                    onChange={(chosen) => chooseSlot(chosen as ScriptSlot)}
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
                onChange={setScript}
                completions={completions}
                marker={marker}
              />
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <BodyEditor
              kinds={slot === 'response_transform' ? ['reply'] : ['words', 'tools']}
              sample={sample}
              onSample={(chosen, text) => choose(chosen, text, slot)}
              value={body}
              onRecent={({ text, protocol }) => choose({ ...sample, protocol }, text, slot)}
              onChange={setBody}
              isFaulty={parsed === null}
            />
          </Grid.Col>
        </Grid>
        <Accordion variant="separated" mt="md">
          <Accordion.Item value="context">
            <Accordion.Control>{t('context')}</Accordion.Control>
            <Accordion.Panel>
              <ContextFields slot={slot} value={context} onChange={(change) => setContext((known) => ({ ...known, ...change }))} faulty={faulty} />
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
        <Group justify="flex-end" mt="md">
          {faulty.length > 0 && (
            <Text size="sm" c="red" role="alert">
              {t('contextFault', { fields: faulty.join(', ') })}
            </Text>
          )}
          <Button onClick={run} loading={isPending} disabled={parsed === null || faulty.length > 0} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
            {t('run')}
          </Button>
        </Group>
      </Card>
      {error && <ScriptFaultNotice error={error} />}
      {data && variables && (
        <ResultCard
          answer={data}
          before={print(variables.body)}
          after={print(data.result_body)}
          figures={[t('operations', { count: data.operations, amount: formatNumber(data.operations) }), t('milliseconds', { amount: data.execution_time_ms })]}
        >
          {data.use_model !== undefined && (
            <Alert color="blue" variant="light" icon={<IconArrowRampRight aria-hidden />}>
              <Text size="sm" className="anywhere">
                {t('useModel', { model: data.use_model })}
              </Text>
            </Alert>
          )}
        </ResultCard>
      )}
    </Stack>
  );
}
