/** Sign-in at another service: which there is, and what its end left in the address. */
import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client.ts';

interface Options {
  oidc: { label: string } | null;
}

export const startAddress = '/console/api/oidc/start';

export const useSignInOptions = () =>
  useQuery({ queryKey: ['sign-in-options'], queryFn: ({ signal }) => call<Options>('sign-in-options', { signal }), staleTime: Number.POSITIVE_INFINITY });

const faults = ['denied', 'expired', 'refused', 'taken', 'disabled', 'unavailable', 'failed'] as const;
export type Fault = (typeof faults)[number];

/** What the OpenID sign-in put into the fragment of the address: a code to exchange, or a fault. */
export interface Arrival {
  code: string | null;
  fault: Fault | null;
}

const pageKey = 'model-gateway.sign-in-page';
/** For the way back: the provider brings everybody to the first page. */
export const rememberPage = (): void => sessionStorage.setItem(pageKey, location.pathname + location.search + location.hash);

/** Where the sign-in was begun in this tab. */
function takePage(): string {
  const page = sessionStorage.getItem(pageKey);
  sessionStorage.removeItem(pageKey);
  return page?.startsWith('/console/') ? page : location.pathname + location.search;
}

/** Read once, as the module loads, and taken out of the address: neither history nor a copied link keeps it. */
export const arrival: Arrival = readArrival();

function readArrival(): Arrival {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const code = fragment.get('sign_in_code');
  const word = fragment.get('sign_in_fault');
  if (code === null && word === null) return { code: null, fault: null };
  history.replaceState(null, '', takePage());
  return { code, fault: word === null ? null : (faults.find((one) => one === word) ?? 'failed') };
}

let exchanged: Promise<string> | undefined;
/** The code works once: asked for twice, the answer is the same. */
export function exchangeCode(code: string): Promise<string> {
  exchanged ??= call<{ token: string }>('oidc/exchange', { method: 'POST', body: { code } }).then(({ token }) => token);
  return exchanged;
}
