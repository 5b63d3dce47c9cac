/** The data cache: what may be retried, and how long an answer is fresh. */
import { notifyManager, QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './problem.ts';

// A button is disabled as soon as what it sends is on its way. In a timer, as is usual, the second press of a double click would be faster, and send it again.
notifyManager.setScheduler(queueMicrotask);

export const queryClient = new QueryClient({
  defaultOptions: {
    // Whether the machine is on line says nothing of a gateway on it or beside it: what cannot be sent fails at once, and is not sent later, unseen.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      // A refusal stays a refusal; only what never arrived is asked again.
      retry: (count, error) => error instanceof ApiProblem && (error.status === 0 || error.status >= 502) && count < 2,
    },
  },
});
