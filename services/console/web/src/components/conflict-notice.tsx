/** Somebody else changed what is being edited: what is there now beside what is here, and the two ways on. */
import { Alert, Box, Button, Group, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** One field that is no longer as it was when the form was filled. */
export interface Conflict {
  field: string;
  now: unknown;
  here: unknown;
  /** Both changed it: one of the two is lost. */
  both: boolean;
}

interface Props {
  conflicts: readonly Conflict[];
  /** Takes everything as it is there now. */
  onTheirs: () => void;
  /** Takes what only they changed, keeps what was changed here. */
  onMine: () => void;
}

export function ConflictNotice({ conflicts, onTheirs, onMine }: Props) {
  const { t } = useTranslation('bulk');
  return (
    <Alert color="orange" role="alert" mb="md" title={t('conflict.title')} mah="45vh" style={{ overflow: 'auto' }}>
      <Text size="sm" mb="xs">
        {t(conflicts.length > 0 ? 'conflict.hint' : 'conflict.same')}
      </Text>
      {conflicts.length > 0 && (
        <Table fz="sm" layout="fixed" verticalSpacing={4} aria-label={t('conflict.title')} mb="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="26%">{t('conflict.field')}</Table.Th>
              <Table.Th>{t('conflict.now')}</Table.Th>
              <Table.Th>{t('conflict.here')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {conflicts.map(({ field, now, here, both }) => (
              <Table.Tr key={field}>
                <Table.Td className="mono anywhere">
                  {field} {both && '!'}
                </Table.Td>
                <Table.Td>
                  <Shown value={now} />
                </Table.Td>
                <Table.Td>
                  <Shown value={here} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group gap="xs">
        <Button size="compact-sm" variant="default" onClick={onMine}>
          {t('conflict.mine')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={onTheirs}>
          {t('conflict.theirs')}
        </Button>
      </Group>
    </Alert>
  );
}

function Shown({ value }: { value: unknown }) {
  const text = value === null || value === undefined || value === '' ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <Box component="span" className="anywhere" style={{ whiteSpace: 'pre-wrap' }}>
      {text}
    </Box>
  );
}
