/** Chooses a client: a list beside the settings, a drop-down where that has no room. */

import { Box, NavLink, Select, Text } from '@mantine/core';
import { type ClientSetup, clients } from '@model-gateway/client-setup';
import { useTranslation } from 'react-i18next';

const groups = ['agent', 'editor', 'application', 'sdk', 'shell'] as const satisfies readonly ClientSetup['group'][];

/** `compact`: the drop-down at any width. */
export function ClientPicker({ value, onChange, compact = false }: { value: string; onChange: (id: string) => void; compact?: boolean }) {
  const { t } = useTranslation('clients');
  const inGroup = (group: ClientSetup['group']) => clients.filter((client) => client.group === group);
  return (
    <>
      <Select
        {...(!compact && { hiddenFrom: 'sm' })}
        label={t('client')}
        searchable
        allowDeselect={false}
        value={value}
        onChange={(id) => id && onChange(id)}
        data={groups.map((group) => ({ group: t(`groups.${group}`), items: inGroup(group).map(({ id, name }) => ({ value: id, label: name })) }))}
      />
      {!compact && (
        <Box component="nav" aria-label={t('client')} visibleFrom="sm" w={250} style={{ flexShrink: 0 }}>
          {groups.map((group) => (
            <section key={group} aria-label={t(`groups.${group}`)}>
              <Text size="xs" c="dimmed" fw={600} tt="uppercase" px="sm" pt="sm" pb={2}>
                {t(`groups.${group}`)}
              </Text>
              {inGroup(group).map(({ id, name }) => (
                <NavLink
                  key={id}
                  component="button"
                  type="button"
                  label={name}
                  active={id === value}
                  aria-current={id === value ? 'true' : undefined}
                  onClick={() => onChange(id)}
                  py={5}
                  style={{ borderRadius: 'var(--mantine-radius-md)' }}
                />
              ))}
            </section>
          ))}
        </Box>
      )}
    </>
  );
}
