/** Colours, fonts and defaults of the components. */
import { type CSSVariablesResolver, createTheme, darken } from '@mantine/core';
import i18next from 'i18next';

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  autoContrast: true,
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } } },
  components: {
    Table: { defaultProps: { highlightOnHover: true, verticalSpacing: 'xs' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250 } },
    Accordion: { styles: { label: { fontSize: 'var(--mantine-font-size-sm)', paddingBlock: 10 } } },
    // Identifiers keep their letters.
    Badge: { styles: { root: { textTransform: 'none' } } },
    Drawer: { styles: { title: { fontWeight: 650, overflowWrap: 'anywhere' } } },
    Modal: { styles: { title: { fontWeight: 650, overflowWrap: 'anywhere' } } },
    // The keyboard begins at the heading of a drawer: at its Close button, a screen reader would say that alone.
    DrawerTitle: { defaultProps: { tabIndex: -1, 'data-autofocus': true } },
    // The head of what stands open is no banner of the page.
    DrawerHeader: { defaultProps: { role: 'none' } },
    ModalHeader: { defaultProps: { role: 'none' } },
    ActionIcon: { defaultProps: { variant: 'subtle' } },
    // Read whenever a message is drawn: the language may have changed.
    Notification: { defaultProps: () => ({ closeButtonProps: { 'aria-label': i18next.t('actions.close') } }) },
  },
});

/** Colours of badges and of words: the library's own are too pale on their tinted ground to be read by everyone (contrast below 4.5). */
const tinted = ['green', 'orange', 'yellow', 'red', 'teal', 'cyan', 'lime', 'gray', 'blue', 'indigo', 'grape', 'violet', 'pink'] as const;

export const readableColors: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-8)',
    // Also readable in a row that the mouse points at.
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
    ...Object.fromEntries(tinted.map((name) => [`--mantine-color-${name}-light-color`, darken(colors[name]?.[9] ?? '#000', 0.3)])),
    ...Object.fromEntries(tinted.map((name) => [`--mantine-color-${name}-text`, darken(colors[name]?.[9] ?? '#000', 0.1)])),
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    ...Object.fromEntries(tinted.map((name) => [`--mantine-color-${name}-light-color`, `var(--mantine-color-${name}-3)`])),
  },
});
