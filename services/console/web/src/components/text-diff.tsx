/** Two texts side by side with what changed marked, loaded when it is first shown. */
import { Box, Loader } from '@mantine/core';
import { Suspense } from 'react';
import { lazyPart } from './lazy-part.tsx';
import type { TextDiffProps } from './text-diff-props.ts';

const Diff = lazyPart(() => import('./text-diff-core.tsx'));

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
