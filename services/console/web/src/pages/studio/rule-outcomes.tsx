/** Each tried rule with what it did. */

import { Badge, Group, Stack, Text } from '@mantine/core';
import type { RuleTest } from '@model-gateway/console/answers';
import type { BodyRuleInput } from '@model-gateway/contracts';
import { useTranslation } from 'react-i18next';

export function RuleOutcomes({ rules, applied }: { rules: readonly BodyRuleInput[]; applied: RuleTest['applied'] }) {
  const { t } = useTranslation('studio');
  const changes = new Map(applied.map(({ index, changes }) => [index, changes]));
  return (
    <Stack gap={4} component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
      {rules.map(({ mode, path }, index) => {
        const count = changes.get(index) ?? 0;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is the rules' only identity
          <Group key={index} component="li" gap="xs" wrap="nowrap" align="flex-start">
            <Badge variant={count > 0 ? 'light' : 'default'} color="teal" tt="none" style={{ flexShrink: 0 }}>
              {count > 0 ? t('changes', { count }) : t('noChange')}
            </Badge>
            <Text size="sm" className="mono anywhere">
              {index + 1}. {mode} {path}
            </Text>
          </Group>
        );
      })}
    </Stack>
  );
}
