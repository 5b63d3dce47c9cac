/** Two texts side by side with what changed marked, loaded when it is first shown. */
import { Box, Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';

export interface TextDiffProps {
  before: string;
  after: string;
  labels: {
    before: string;
    after: string;
    /** Stands for lines that are left out; `$` is their number. */
    unchanged: string;
  };
}

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
