/** The kinds of logins that are enabled here. What is closed is in no answer, and in no part of this application. */
import type { SsoProfile } from '@model-gateway/console/answers';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';

export const useProfiles = () =>
  useQuery({ queryKey: ['sso-profiles'], queryFn: ({ signal }) => call<{ items: SsoProfile[] }>('sso-profiles', { signal }), staleTime: 60_000 });

/** The vendor's words for a kind; its id where it is closed. */
export function useProfileNames(): (id: string) => string {
  const { data } = useProfiles();
  return (id) => data?.items.find((one) => one.id === id)?.name ?? id;
}
