/** The names of the chosen models: a prefix for all, another name for each, and what becomes of those that are taken. */
import { Fieldset, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { mayJoin, type NameChoice, type PlannedName } from './name-plan.ts';

const shown = 50;

interface Props {
  prefix: string;
  onPrefix: (prefix: string) => void;
  plan: readonly PlannedName[];
  onChoice: (id: string, choice: NameChoice) => void;
}

export function NameFields({ prefix, onPrefix, plan, onChoice }: Props) {
  const { t } = useTranslation('start');
  // Those that need a decision come first, however many there are.
  const sorted = [...plan].sort((a, b) => Number(b.taken !== null) - Number(a.taken !== null));
  return (
    <Fieldset legend={t('names.legend')}>
      <Stack gap="sm">
        <TextInput label={t('names.prefix')} description={t('names.prefixHint')} value={prefix} onChange={(event) => onPrefix(event.currentTarget.value)} />
        {sorted.slice(0, shown).map((planned) => (
          <NameField key={planned.id} planned={planned} onChoice={(choice) => onChoice(planned.id, choice)} />
        ))}
        {plan.length > shown && (
          <Text size="sm" c="dimmed">
            {t('names.more', { count: plan.length - shown })}
          </Text>
        )}
      </Stack>
    </Fieldset>
  );
}

function NameField({ planned: { id, name, taken, joins }, onChoice }: { planned: PlannedName; onChoice: (choice: NameChoice) => void }) {
  const { t } = useTranslation('start');
  const isOpen = taken !== null && !joins;
  return (
    <Group align="flex-end" gap="sm">
      <TextInput
        flex="1 1 220px"
        label={t('names.nameOf', { id })}
        value={name}
        error={name === '' ? t('names.empty') : isOpen ? t(`names.taken.${taken}`, { name }) : undefined}
        onChange={(event) => onChoice({ typed: event.currentTarget.value })}
      />
      {mayJoin(taken) && (
        <Switch
          label={t('names.join', { name })}
          checked={joins}
          onChange={(event) => onChoice({ typed: name, joins: event.currentTarget.checked })}
          mb={isOpen ? 24 : 6}
        />
      )}
    </Group>
  );
}
