/** The conversation of a stored request that the address names (`?request=`): the request page's way to here. */
import { notifications } from '@mantine/notifications';
import { type PlaygroundStart, playgroundDialects } from '@model-gateway/protocols/playground';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useReadBodies } from '../../api/bodies.ts';
import { useIsAdmin } from '../../session/use-me.ts';

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Calls `take` once for each address: a look at a body is recorded. `restored`: what was made of it before the session ended is there again, and stays. */
export function useStoredRequest(restored: boolean, take: (start: PlaygroundStart) => void): void {
  const { t } = useTranslation('playground');
  const isAdmin = useIsAdmin();
  const readBodies = useReadBodies();
  const { request: asked } = useSearch({ strict: false }) as { request?: unknown };
  const taken = useRef<unknown>(undefined);
  const stays = useRef(restored);
  stays.current = restored;
  useEffect(() => {
    if (!isAdmin || typeof asked !== 'string' || taken.current === asked) return;
    taken.current = asked;
    void readBodies(asked).then(
      ({ client_protocol, request }) => {
        const dialect = playgroundDialects.find(({ id }) => id === client_protocol);
        if (!dialect || stays.current) return;
        take(dialect.readRequest(parsed(request.text)));
        notifications.show({ message: t('fromRequest') });
      },
      (error: unknown) => notifications.show({ message: error instanceof Error ? error.message : String(error), color: 'red' }),
    );
  });
}
