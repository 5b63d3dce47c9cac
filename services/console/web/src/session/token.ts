/** The session token, kept in this browser's storage; listeners are notified when it changes. */
const place = 'model-gateway.token';
const listeners = new Set<() => void>();

const announce = (): void => {
  for (const listener of listeners) listener();
};

export const readToken = (): string | null => localStorage.getItem(place);

export function rememberToken(token: string): void {
  localStorage.setItem(place, token);
  announce();
}

/** `of`: the token that was refused. Another that was stored since, by a sign-in in another tab, stays. */
export function forgetToken(of: string | null = readToken()): void {
  if (of === null || readToken() !== of) return;
  localStorage.removeItem(place);
  announce();
}

/** For `useSyncExternalStore`; another tab's sign-out counts too. */
export function onTokenChange(listener: () => void): () => void {
  const fromOtherTab = (event: StorageEvent) => {
    if (event.key === place || event.key === null) listener();
  };
  listeners.add(listener);
  addEventListener('storage', fromOtherTab);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', fromOtherTab);
  };
}
