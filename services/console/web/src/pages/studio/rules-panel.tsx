/** Body rules are put together here and tried on a body. */
import { Accordion, Alert, Button, Card, Grid, Group, Select, Stack, Text } from '@mantine/core';
import type { BodyRuleInput } from '@model-gateway/contracts';
import { IconArrowRampRight, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useProtocols } from '../../api/use-protocols.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { newRule, type RuleForm, rulesBody, rulesForm } from '../../components/rule-form.ts';
import { RulesEditor } from '../../components/rules-editor.tsx';
import { BodyEditor } from './body-editor.tsx';
import { print, readObject } from './body-text.ts';
import { ResultCard } from './result-card.tsx';
import { areTexts, factsBody, firstFacts, RuleFacts } from './rule-facts.tsx';
import { RuleOutcomes } from './rule-outcomes.tsx';
import { firstProtocol, type Sample, sampleText } from './samples.ts';
import { useLoaded } from './use-loaded.ts';
import { useRuleTest } from './use-rule-test.ts';

const firstSample: Sample = { protocol: firstProtocol, kind: 'tools' };
const firstRules: RuleForm[] = [
  { ...newRule, mode: 'overwrite', path: 'temperature', value: '0' },
  { ...newRule, mode: 'inject-system-prompt', value: 'Answer in one sentence.' },
];

export function RulesPanel() {
  const { t } = useTranslation('studio');
  const protocols = useProtocols();
  const [rules, setRules] = useState(firstRules);
  const [sample, setSample] = useState(firstSample);
  const [protocol, setProtocol] = useState(firstProtocol);
  const [body, setBody] = useState(() => sampleText(firstSample));
  const [facts, setFacts] = useState(firstFacts);
  const { mutate, isPending, data, error, variables } = useRuleTest();
  const parsed = readObject(body);
  const loaded = useLoaded<{ request_body_rules?: BodyRuleInput[] }>(({ request_body_rules }) => {
    if (request_body_rules?.length) setRules(rulesForm(request_body_rules));
  });
  const run = () => parsed && mutate({ rules: rulesBody(rules), body: parsed, protocol, context: factsBody(facts) });
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
            <RulesEditor value={rules} onChange={setRules} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <BodyEditor
              kinds={['words', 'tools']}
              sample={sample}
              onSample={(chosen, text) => {
                setSample(chosen);
                setProtocol(chosen.protocol);
                setBody(text);
              }}
              value={body}
              onRecent={({ text, protocol: spoken }) => {
                setProtocol(spoken);
                setBody(text);
              }}
              onChange={setBody}
              isFaulty={parsed === null}
            />
            <Select
              mt="sm"
              label={t('protocol')}
              description={t('protocolHint')}
              allowDeselect={false}
              data={protocols.includes(protocol) ? protocols : [protocol, ...protocols]}
              value={protocol}
              onChange={(chosen) => chosen && setProtocol(chosen)}
            />
          </Grid.Col>
        </Grid>
        <Accordion variant="separated" mt="md">
          <Accordion.Item value="facts">
            <Accordion.Control>{t('facts')}</Accordion.Control>
            <Accordion.Panel>
              <RuleFacts value={facts} onChange={(change) => setFacts((known) => ({ ...known, ...change }))} />
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
        <Group justify="flex-end" mt="md">
          <CopyButton text={async () => print(rulesBody(rules))} label={t('copyRules')} />
          <Button onClick={run} loading={isPending} disabled={parsed === null || !areTexts(facts)} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
            {t('run')}
          </Button>
        </Group>
      </Card>
      {error && <FaultNotice error={error} />}
      {data && variables && (
        <ResultCard
          answer={data}
          before={print(variables.body)}
          after={print(data.body)}
          figures={[t('appliedCount', { applied: data.applied.length, all: variables.rules.length })]}
        >
          <RuleOutcomes rules={variables.rules} applied={data.applied} />
          {data.switch && (
            <Alert color="blue" variant="light" icon={<IconArrowRampRight aria-hidden />}>
              <Text size="sm" className="anywhere">
                {t('switch', { index: data.switch.index + 1, model: data.switch.use_model })}
              </Text>
            </Alert>
          )}
        </ResultCard>
      )}
    </Stack>
  );
}
