/** What stands open over a page is part of its address: it is shared and loaded again with it, and Back closes it. */
import { useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router';

interface Opened {
  /** null: nothing is open. */
  value: string | null;
  open: (value: string) => void;
  close: () => void;
}

/** Search parameters that open something, one at a time. */
const parameters = ['edit', 'create', 'request', 'revision'] as const;

/** Kept with the entry of the browser's history that opening made: closing goes back over it. */
const mark = 'openedHere';

/** `parameter` says by its name what its value opens. */
export function useOpened(parameter: (typeof parameters)[number]): Opened {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const { state } = useLocation() as { state: object };
  const navigate = useNavigate();
  const { history } = useRouter();
  const found = search[parameter];
  const value = found === undefined || found === null || found === '' ? null : String(found);
  const others = Object.fromEntries(Object.entries(search).filter(([name]) => !parameters.some((one) => one === name)));
  const go = (next: Record<string, unknown>, more: object) =>
    void navigate({ to: '.', search: next, resetScroll: false, ignoreBlocker: true, ...more } as never);
  return {
    value,
    open: (next) => next !== value && go({ ...others, [parameter]: next }, { state: { [mark]: true } }),
    // What would be lost was asked about before.
    close: () => (mark in state ? history.back({ ignoreBlocker: true }) : go(others, { replace: true })),
  };
}
