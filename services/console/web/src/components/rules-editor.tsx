/** Edits a list of body rules: field by field, or as the JSON that the API takes. */
import { ActionIcon, Button, Group, Input, Paper, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import type { BodyRuleMode } from '@model-gateway/contracts';
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from './code-editor.tsx';
import { RuleFields } from './rule-fields.tsx';
import { newRule, type RuleForm, ruleModes, rulesBody, rulesForm } from './rule-form.ts';

interface Props {
  value: RuleForm[];
  onChange: (rules: RuleForm[]) => void;
  error?: ReactNode;
}

export function RulesEditor({ value, onChange, error }: Props) {
  const { t } = useTranslation('rules');
  const [view, setView] = useState<'fields' | 'json'>('fields');
  return (
    <Input.Wrapper error={error}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Text size="sm" c="dimmed">
            {t('hint')}
          </Text>
          <SegmentedControl
            size="xs"
            aria-label={t('view')}
            style={{ flexShrink: 0 }}
            value={view}
            onChange={(chosen) => setView(chosen as typeof view)}
            data={['fields', 'json'].map((name) => ({ value: name, label: t(`views.${name}`) }))}
          />
        </Group>
        {view === 'json' ? <RulesJson value={value} onChange={onChange} /> : <RuleList value={value} onChange={onChange} />}
      </Stack>
    </Input.Wrapper>
  );
}

function RuleList({ value, onChange }: Props) {
  const { t } = useTranslation('rules');
  const replace = (index: number, rule: RuleForm) => onChange(value.map((one, at) => (at === index ? rule : one)));
  const move = (from: number, to: number) => {
    const rules = [...value];
    rules.splice(to, 0, ...rules.splice(from, 1));
    onChange(rules);
  };
  return (
    <>
      {value.map((rule, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is the rules' only identity
        <Paper key={index} withBorder p="sm" role="group" aria-label={t('rule', { index: index + 1 })}>
          <Stack gap="xs">
            <Group gap="xs" align="flex-end" wrap="nowrap">
              <Select
                flex={1}
                label={t('rule', { index: index + 1 })}
                description={t(`modes.${rule.mode}`)}
                allowDeselect={false}
                data={ruleModes}
                value={rule.mode}
                onChange={(mode) => replace(index, { ...rule, mode: mode as BodyRuleMode })}
              />
              <Group gap={0} wrap="nowrap">
                <ActionIcon size="lg" color="gray" disabled={index === 0} aria-label={t('moveUp', { index: index + 1 })} onClick={() => move(index, index - 1)}>
                  <IconArrowUp size={18} aria-hidden />
                </ActionIcon>
                <ActionIcon
                  size="lg"
                  color="gray"
                  disabled={index === value.length - 1}
                  aria-label={t('moveDown', { index: index + 1 })}
                  onClick={() => move(index, index + 1)}
                >
                  <IconArrowDown size={18} aria-hidden />
                </ActionIcon>
                <ActionIcon
                  size="lg"
                  color="red"
                  aria-label={t('removeRule', { index: index + 1 })}
                  onClick={() => onChange(value.filter((_, at) => at !== index))}
                >
                  <IconTrash size={18} aria-hidden />
                </ActionIcon>
              </Group>
            </Group>
            <RuleFields rule={rule} onChange={(changed) => replace(index, changed)} />
          </Stack>
        </Paper>
      ))}
      <Group>
        <Button variant="light" size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => onChange([...value, newRule])}>
          {t('add')}
        </Button>
      </Group>
    </>
  );
}

/** The text is the editor's own while it is no list of rules: the form keeps the last one that was. */
function RulesJson({ value, onChange }: Props) {
  const { t } = useTranslation('rules');
  const [text, setText] = useState(() => JSON.stringify(rulesBody(value), null, 2));
  const [isRead, setIsRead] = useState(true);
  const take = (typed: string) => {
    setText(typed);
    const rules = readRules(typed);
    setIsRead(rules !== null);
    if (rules) onChange(rules);
  };
  return <CodeEditor language="json" label={t('json')} minHeight="160px" value={text} onChange={take} error={isRead ? undefined : t('notRules')} />;
}

function readRules(text: string): RuleForm[] | null {
  try {
    const rules: unknown = text.trim() === '' ? [] : JSON.parse(text);
    const isRule = (rule: unknown) => typeof rule === 'object' && rule !== null && ruleModes.includes((rule as { mode?: BodyRuleMode }).mode as BodyRuleMode);
    return Array.isArray(rules) && rules.every(isRule) ? rulesForm(rules) : null;
  } catch {
    return null;
  }
}
