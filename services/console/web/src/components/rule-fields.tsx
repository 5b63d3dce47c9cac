/** The fields of one body rule, as its mode asks for them. */
import { ActionIcon, Autocomplete, Button, Fieldset, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useNames } from './name-select.tsx';
import { type MatchForm, newMatch, partsOf, type RuleForm } from './rule-form.ts';

interface Props {
  rule: RuleForm;
  onChange: (rule: RuleForm) => void;
}

export function RuleFields({ rule, onChange }: Props) {
  const { t } = useTranslation('rules');
  const parts = partsOf[rule.mode];
  const isOptional = parts.includes('optional-path');
  return (
    <>
      {(isOptional || parts.includes('path')) && (
        <TextInput
          label={t('path')}
          description={t(isOptional ? 'optionalPathHint' : 'pathHint')}
          placeholder="messages.*.content"
          classNames={{ input: 'mono' }}
          value={rule.path}
          onChange={(event) => onChange({ ...rule, path: event.currentTarget.value })}
        />
      )}
      {parts.includes('value') && (
        <Textarea
          label={t('value')}
          description={t(`values.${rule.mode}`)}
          autosize
          minRows={1}
          maxRows={10}
          classNames={{ input: 'mono' }}
          value={rule.value}
          onChange={(event) => onChange({ ...rule, value: event.currentTarget.value })}
        />
      )}
      {parts.includes('condition') && <Condition rule={rule} onChange={onChange} />}
      {parts.includes('when') && <Switch rule={rule} onChange={onChange} />}
    </>
  );
}

function Condition({ rule, onChange }: Props) {
  const { t } = useTranslation('rules');
  return (
    <Fieldset legend={t('condition')}>
      <Stack gap="xs">
        <TextInput
          label={t('scope')}
          description={t('scopeHint')}
          placeholder={rule.path || 'tools'}
          classNames={{ input: 'mono' }}
          value={rule.scope}
          onChange={(event) => onChange({ ...rule, scope: event.currentTarget.value })}
        />
        <Matches
          matches={rule.where}
          onChange={(where) => onChange({ ...rule, where })}
          pathHint={t('wherePath')}
          equalHint={t('whereEqual')}
          add={t('addWhere')}
        />
      </Stack>
    </Fieldset>
  );
}

function Switch({ rule, onChange }: Props) {
  const { t } = useTranslation('rules');
  const names = [...useNames('models', rule.use_model), ...useNames('load-balancers', rule.use_model)];
  return (
    <>
      <Fieldset legend={t('when')}>
        <Matches matches={rule.when} onChange={(when) => onChange({ ...rule, when })} pathHint={t('path')} equalHint={t('whenEqual')} add={t('addWhen')} />
      </Fieldset>
      <Autocomplete
        label={t('useModel')}
        description={t('useModelHint')}
        data={[...new Set(names)]}
        value={rule.use_model}
        onChange={(use_model) => onChange({ ...rule, use_model })}
      />
    </>
  );
}

interface MatchesProps {
  matches: MatchForm[];
  onChange: (matches: MatchForm[]) => void;
  pathHint: string;
  equalHint: string;
  add: string;
}

function Matches({ matches, onChange, pathHint, equalHint, add }: MatchesProps) {
  const { t } = useTranslation('rules');
  const replace = (index: number, match: MatchForm) => onChange(matches.map((one, at) => (at === index ? match : one)));
  return (
    <Stack gap="xs">
      {matches.map((match, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
        <Group key={index} gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            flex={1}
            label={pathHint}
            classNames={{ input: 'mono' }}
            value={match.path}
            onChange={(event) => replace(index, { ...match, path: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            label={equalHint}
            classNames={{ input: 'mono' }}
            value={match.equal}
            onChange={(event) => replace(index, { ...match, equal: event.currentTarget.value })}
          />
          <ActionIcon
            size="lg"
            color="red"
            aria-label={t('removeMatch', { index: index + 1 })}
            onClick={() => onChange(matches.filter((_, at) => at !== index))}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button variant="subtle" size="compact-xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => onChange([...matches, newMatch])}>
          {add}
        </Button>
      </Group>
    </Stack>
  );
}
