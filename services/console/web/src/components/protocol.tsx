/** Protocols by the names that people know them by; the identifier, which files and the API use, stands small beside it. */
import { Group, Select, type SelectProps, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** The name of a protocol; of one that this console does not know, its identifier. */
export function useProtocolName(): (id: string) => string {
  const { t } = useTranslation('protocols');
  return (id) => t(id, { defaultValue: id });
}

export function ProtocolName({ id }: { id: string }) {
  const name = useProtocolName()(id);
  return (
    <Group component="span" gap={6} wrap="wrap" display="inline-flex" align="baseline">
      <span>{name}</span>
      {name !== id && (
        <Text span size="xs" c="dimmed" className="mono">
          {id}
        </Text>
      )}
    </Group>
  );
}

/** Both are searched. */
const matches = ({ label, value }: { label: string; value: string }, typed: string): boolean =>
  [label, value].some((text) => text.toLowerCase().includes(typed.trim().toLowerCase()));

/** Chooses a protocol from these. */
export function ProtocolSelect({ protocols, ...props }: Omit<SelectProps, 'data'> & { protocols: readonly string[] }) {
  const nameOf = useProtocolName();
  return (
    <Select
      {...props}
      data={protocols.map((id) => ({ value: id, label: nameOf(id) }))}
      filter={({ options, search }) => options.filter((option) => 'value' in option && matches(option, search))}
      renderOption={({ option }) => <ProtocolName id={option.value} />}
    />
  );
}
