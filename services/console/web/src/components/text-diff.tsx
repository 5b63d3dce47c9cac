/** Two texts side by side with what changed marked, loaded when it is first shown. */
import { Box, Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { TextDiffProps } from './text-diff-props.ts';

const Diff = lazy(() => import('./text-diff-core.tsx'));

/** About as high as what comes, so that it stays where it was scrolled to. */
const available = (
  <Box mih={240}>
    <Loader size="sm" />
  </Box>
);

export function TextDiff(props: TextDiffProps) {
  return (
    <Suspense fallback={available}>
      <Diff {...props} />
    </Suspense>
  );
}
