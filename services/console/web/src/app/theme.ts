/** Colours, fonts and defaults of the components. */
import { createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 5 },
  defaultRadius: 'md',
  autoContrast: true,
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } } },
  components: {
    Table: { defaultProps: { highlightOnHover: true, verticalSpacing: 'xs' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250 } },
    Accordion: { styles: { label: { fontSize: 'var(--mantine-font-size-sm)', paddingBlock: 10 } } },
    ActionIcon: { defaultProps: { variant: 'subtle' } },
  },
});
