/** Two texts side by side with what changed marked, loaded when it is first shown. */
import { Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';

export interface TextDiffProps {
  before: string;
  after: string;
  labels: { before: string; after: string };
}

const Diff = lazy(() => import('./text-diff-core.tsx'));

export function TextDiff(props: TextDiffProps) {
  return (
    <Suspense fallback={<Loader size="sm" />}>
      <Diff {...props} />
    </Suspense>
  );
}
