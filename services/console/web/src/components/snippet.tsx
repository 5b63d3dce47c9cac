/** A text to copy: code, settings, a request or a reply. Long lines wrap, long texts scroll. */
import { Box, Group, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

interface Props {
  title: string;
  text: string;
  /** What the copy button takes when it is more than what is shown. */
  copy?: string;
  maxHeight?: number | string;
}

export function Snippet({ title, text, copy = text, maxHeight = 420 }: Props) {
  return (
    <Box component="section" aria-label={title} className="snippet">
      <Group justify="space-between" wrap="nowrap" px="sm" py={4} className="snippet-head">
        <Text size="xs" c="dimmed" className="mono" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Text>
        <CopyButton text={copy} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <pre className="mono" style={{ maxHeight }} tabIndex={0}>
        {text}
      </pre>
    </Box>
  );
}
