/** Body rules are put together here and tried on a body. */
import { Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useProtocols } from '../../api/use-protocols.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import type { StoredRewriting } from '../../components/rewriting.ts';
import { newRule, type RuleForm, rulesBody, rulesForm } from '../../components/rule-form.ts';
import { RulesEditor } from '../../components/rules-editor.tsx';
import { useKept } from '../../components/use-kept.ts';
import { BodyEditor } from './body-editor.tsx';
import { print, readObject } from './body-text.ts';
import { ResultCard } from './result-card.tsx';
import { areTexts, factsBody, firstFacts, RuleFacts } from './rule-facts.tsx';
import { RuleOutcomes } from './rule-outcomes.tsx';
import { firstProtocol, type Sample, sampleText } from './samples.ts';
import { SentOn, Trial } from './trial.tsx';
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
  const [rules, setRules, restored] = useKept('studio rules', firstRules);
  const [sample, setSample] = useState(firstSample);
  const [protocol, setProtocol] = useState(firstProtocol);
  const [body, setBody] = useKept('studio rules body', () => sampleText(firstSample));
  const [facts, setFacts] = useState(firstFacts);
  const { mutate, isPending, data, error, variables } = useRuleTest();
  const parsed = readObject(body);
  const loaded = useLoaded<StoredRewriting>(({ request_body_rules }) => {
    if (request_body_rules?.length) setRules(rulesForm(request_body_rules));
  }, restored);
  const run = () => parsed && mutate({ rules: rulesBody(rules), body: parsed, protocol, context: factsBody(facts) });
  return (
    <Stack>
      <Trial
        loaded={loaded}
        subject={<RulesEditor value={rules} onChange={setRules} />}
        body={
          <>
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
          </>
        }
        more={{ title: t('facts'), content: <RuleFacts value={facts} onChange={(change) => setFacts((known) => ({ ...known, ...change }))} /> }}
        foot={<CopyButton text={async () => print(rulesBody(rules))} label={t('copyRules')} />}
        onRun={run}
        isRunning={isPending}
        canRun={parsed !== null && areTexts(facts)}
      />
      {error && <FaultNotice error={error} />}
      {data && variables && (
        <ResultCard
          answer={data}
          before={print(variables.body)}
          after={print(data.body)}
          figures={[t('appliedCount', { applied: data.applied.length, all: variables.rules.length })]}
        >
          <RuleOutcomes rules={variables.rules} applied={data.applied} />
          {data.switch && <SentOn text={t('switch', { index: data.switch.index + 1, model: data.switch.use_model })} />}
        </ResultCard>
      )}
    </Stack>
  );
}
