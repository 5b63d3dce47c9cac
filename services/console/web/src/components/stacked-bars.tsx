/** Bars over days, each made of parts. The numbers are also there as a table for those who cannot see the bars. */
import { Box, Group, Text, VisuallyHidden } from '@mantine/core';

/** One part of each bar. */
export interface BarPart {
  label: string;
  values: readonly number[];
}

interface Props {
  caption: string;
  /** What each bar is called. */
  names: readonly string[];
  parts: readonly BarPart[];
  format: (value: number) => string;
}

const colors = ['#4263eb', '#2f9e44', '#f08c00', '#0c8599', '#e03131', '#9c36b5', '#66a80f', '#c2255c', '#868e96'];
const height = 200;
const colorOf = (at: number): string => colors[Math.min(at, colors.length - 1)]!;

export function StackedBars({ caption, names, parts, format }: Props) {
  const totals = names.map((_, at) => parts.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const greatest = Math.max(...totals, 0) || 1;
  return (
    <figure style={{ margin: 0 }}>
      <VisuallyHidden>
        <table>
          <caption>{caption}</caption>
          <tbody>
            {names.map((name, at) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{format(totals[at] ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
      <Group gap="md" mb="sm" aria-hidden>
        {parts.map(({ label }, at) => (
          <Group key={label} gap={6} wrap="nowrap">
            <Box className="meaning" w={10} h={10} style={{ background: colorOf(at), borderRadius: 2, flexShrink: 0 }} />
            <Text size="sm" className="anywhere">
              {label}
            </Text>
          </Group>
        ))}
      </Group>
      <Text size="xs" c="dimmed" aria-hidden style={{ borderBottom: '1px dashed var(--mantine-color-default-border)' }}>
        {format(greatest)}
      </Text>
      <Box style={{ display: 'flex', alignItems: 'flex-end', gap: 2, height }} aria-hidden>
        {names.map((name, at) => (
          <Box
            key={name}
            flex={1}
            title={[
              `${name}: ${format(totals[at] ?? 0)}`,
              ...parts.filter(({ values }) => (values[at] ?? 0) > 0).map(({ label, values }) => `${label}: ${format(values[at] ?? 0)}`),
            ].join('\n')}
            style={{ display: 'flex', flexDirection: 'column-reverse', height: '100%', minWidth: 0 }}
          >
            {parts.map(({ label, values }, part) => (
              <Box key={label} className="meaning" style={{ height: `${((values[at] ?? 0) / greatest) * 100}%`, background: colorOf(part), flexShrink: 0 }} />
            ))}
          </Box>
        ))}
      </Box>
      <Group justify="space-between" mt={4} aria-hidden>
        <Text size="xs" c="dimmed">
          {names[0]}
        </Text>
        <Text size="xs" c="dimmed">
          {names.at(-1)}
        </Text>
      </Group>
    </figure>
  );
}
