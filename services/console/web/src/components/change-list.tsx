/** Rows that came, changed and went, field by field, the old value beside the new one. */
import { Accordion, Badge, Box, Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Changes, FieldChange, RowChange } from '../api/changes.ts';

const colours = { created: 'green', updated: 'blue', deleted: 'red' } as const;

export function ChangeList({ total_changes, changes }: Changes) {
  const { t } = useTranslation('history');
  if (total_changes === 0)
    return (
      <Text c="dimmed" size="sm">
        {t('noChanges')}
      </Text>
    );
  // Names hold spaces, which the ids that screen readers follow must not.
  const single = changes.length === 1 ? ['0'] : [];
  return (
    <Stack gap="xs">
      <Accordion multiple variant="separated" defaultValue={single}>
        {changes.map((row, index) => (
          <Accordion.Item key={rowId(row)} value={String(index)}>
            <Accordion.Control>
              <Group gap="xs" wrap="nowrap">
                <Badge variant="light" color={colours[row.change]} tt="none" flex="0 0 auto">
                  {t(`change.${row.change}`)}
                </Badge>
                <Text size="sm" className="anywhere">
                  <Text span c="dimmed" size="sm">
                    {t(`sections.${row.section}`, row.section)}
                  </Text>{' '}
                  {row.name}
                </Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <Fields fields={row.fields} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {changes.length < total_changes && (
        <Text c="dimmed" size="sm">
          {t('moreChanges', { count: total_changes - changes.length })}
        </Text>
      )}
    </Stack>
  );
}

const rowId = ({ section, name }: RowChange): string => `${section} ${name}`;

function Fields({ fields }: { fields: Record<string, FieldChange> }) {
  const { t } = useTranslation('history');
  return (
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing={4} fz="sm" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="24%">{t('field')}</Table.Th>
            <Table.Th>{t('before')}</Table.Th>
            <Table.Th>{t('after')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(fields).map(([field, { before, after, secret_changed }]) => (
            <Table.Tr key={field}>
              <Table.Td className="mono anywhere">{field}</Table.Td>
              <Table.Td>
                <Value value={before} />
              </Table.Td>
              <Table.Td>
                <Value value={after} />
                {secret_changed && (
                  <Badge size="xs" variant="light" color="orange" tt="none">
                    {t('secretChanged')}
                  </Badge>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <Text c="dimmed">–</Text>;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  return (
    <Box component="pre" m={0} className="mono anywhere" style={{ whiteSpace: 'pre-wrap' }} mah={240}>
      {text}
    </Box>
  );
}
