/** What to do for one client, from the table that the command line reads too. */

import { Alert, Group, Stack, Table, Text } from '@mantine/core';
import { type ClientSetup, printStep, type SetupFacts, type SetupStep } from '@model-gateway/client-setup';
import { IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../components/copy-button.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { useModelLimits } from './use-model-limits.ts';

export function ClientSteps({ client, facts: given }: { client: ClientSetup; facts: SetupFacts }) {
  const { t, i18n } = useTranslation('clients');
  const facts = { ...given, limits: useModelLimits(given) };
  const { note } = client;
  return (
    <Stack gap="sm">
      {client.steps(facts).map((step) => (
        <Step key={`${step.kind} ${step.kind === 'file' ? step.path : ''}`} step={step} />
      ))}
      {note && (
        <Alert color="blue" icon={<IconInfoCircle aria-hidden />} variant="light">
          {i18n.language === 'zh' ? note.zh : note.en}
        </Alert>
      )}
      {client.retriesBrokenStreams && (
        <Alert color="blue" icon={<IconInfoCircle aria-hidden />} variant="light">
          {t('onBreak', { client: client.name })}
        </Alert>
      )}
    </Stack>
  );
}

function Step({ step }: { step: SetupStep }) {
  const { t } = useTranslation('clients');
  if (step.kind === 'fields') return <Fields place={step.place} fields={step.fields} />;
  if (step.kind === 'code')
    return (
      <>
        <Snippet title={t('install')} text={step.install} />
        <Snippet title={step.language} text={step.text} />
      </>
    );
  return <Snippet title={step.kind === 'file' ? step.path : t(step.kind)} text={printStep(step)} />;
}

function Fields({ place, fields }: { place: string; fields: readonly (readonly [string, string])[] }) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {place}
      </Text>
      <Table withTableBorder aria-label={place}>
        <Table.Tbody>
          {fields.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" w="35%" fw={500}>
                {label}
              </Table.Th>
              <Table.Td>
                <Group gap={4} wrap="nowrap" justify="space-between">
                  <Text className="mono anywhere">{value}</Text>
                  <CopyButton text={value} label={label} />
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
