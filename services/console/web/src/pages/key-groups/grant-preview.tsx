/** What the patterns grant of what exists now. */
import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isGranted, useCatalogNames } from '../../api/use-catalog.ts';

const shown = 40;

export function GrantPreview({ patterns }: { patterns: readonly string[] }) {
  const { t } = useTranslation('key-groups');
  const names = useCatalogNames().data;
  if (!names) return null;
  const granted = names.filter(({ name }) => isGranted(patterns, name));
  const idle = patterns.filter((pattern) => !names.some(({ name }) => isGranted([pattern], name)));
  return (
    <div role="status">
      <Text size="sm" c="dimmed">
        {t('grants', { count: granted.length, total: names.length })}
      </Text>
      <Group gap={4} mt={4}>
        {granted.slice(0, shown).map(({ name, kind }) => (
          <Badge key={name} variant="light" color={kind === 'model' ? 'blue' : 'grape'} tt="none" maw="100%">
            {name}
          </Badge>
        ))}
        {granted.length > shown && <Text size="sm">{t('more', { count: granted.length - shown })}</Text>}
      </Group>
      {idle.length > 0 && (
        <Text size="sm" className="anywhere" mt={4} style={{ color: 'var(--mantine-color-orange-light-color)' }}>
          {t('grantNothing', { patterns: idle.join(', ') })}
        </Text>
      )}
    </div>
  );
}
