/** What the palette offers for what was typed. */

import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { Found, FoundKey } from '@model-gateway/console/answers';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { ask } from '../../components/ask.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { placeOf } from '../../components/name-link.tsx';
import { useMe } from '../../session/use-me.ts';
import { isForMembers, isShown, navigation } from '../navigation.ts';
import { holdsWords, looksLikeKey, makable, settingPlaces } from './places.ts';

/** One line of the palette. */
export interface Entry {
  id: string;
  /** Chooses the picture: a kind of resource, a page's id, or `setting`. */
  icon: string;
  label: string;
  detail?: string;
  /** Goes on in the palette instead of closing it. */
  stays?: boolean;
  run: () => void;
}

interface Section {
  title: string;
  entries: Entry[];
}

type Verb = 'disable' | 'enable';

/** `disable ada`: what is to be done, and to whom. */
function readVerb(typed: string, words: (verb: Verb) => string): { verb: Verb; rest: string } | null {
  for (const verb of ['disable', 'enable'] as const)
    for (const word of words(verb).split(',')) {
      const start = word.trim().toLowerCase();
      // Chinese has no blanks between words.
      if (typed.toLowerCase().startsWith(start) && (typed.length === start.length || /\s/.test(typed[start.length] ?? '') || /[^\x00-\x7f]/.test(start)))
        return { verb, rest: typed.slice(start.length).trim() };
    }
  return null;
}

function useFound(q: string) {
  const [asked] = useDebouncedValue(q, 150);
  return useQuery({
    queryKey: ['find', asked],
    queryFn: ({ signal }) => call<{ items: Found[] }>('find', { method: 'POST', body: { q: asked.slice(0, 512) }, signal }),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
  });
}

/** `setQuery` puts text into the palette, which stays open. */
export function usePalette(query: string, setQuery: (query: string) => void): { sections: Section[]; isSearching: boolean } {
  const { t } = useTranslation(['palette', 'common']);
  const navigate = useNavigate();
  const me = useMe().data;
  const role = me?.role;
  const isAdmin = role === 'admin';
  const typed = query.trim();
  const isKey = looksLikeKey(typed);
  const verb = isAdmin && !isKey ? readVerb(typed, (name) => t(`verbs.${name}`)) : null;
  const words = isKey ? '' : (verb?.rest ?? typed);
  // Members have nothing there to find: what is theirs stands on one page.
  const found = useFound(role === 'member' ? '' : words);
  const change = useSwitch();
  const findKey = useKeyLookup();
  const go = (to: string, search: Record<string, unknown> = {}) => void navigate({ to, search } as never);
  const items = words === '' ? [] : (found.data?.items ?? []);

  if (isKey)
    return {
      isSearching: false,
      sections: [
        {
          title: t('do'),
          entries: isAdmin ? [{ id: 'key', icon: 'access-keys', label: t('whoseKey'), detail: t('whoseKeyHint'), run: () => void findKey(typed) }] : [],
        },
      ],
    };
  const switches = verb
    ? items
        .filter(({ enabled }) => enabled === (verb.verb === 'disable'))
        .map(({ kind, name, detail }) => ({
          id: `switch ${kind} ${name}`,
          icon: kind,
          label: t(`${verb.verb}One`, { kind: t(`kinds.${kind}`), name }),
          ...(detail !== null && { detail }),
          run: () => change(kind, name, verb.verb === 'enable'),
        }))
    : [];
  if (verb) return { isSearching: found.isFetching, sections: [{ title: t('do'), entries: switches }].filter(({ entries }) => entries.length > 0) };

  const ids = items.filter(({ kind }) => kind === 'request' || kind === 'session').map(foundEntry);
  const resources = items.filter(({ kind }) => kind !== 'request' && kind !== 'session').map(foundEntry);
  function foundEntry({ kind, name, detail, enabled }: Found): Entry {
    const { to, search } = placeOf(kind, name);
    const more = [t(`kinds.${kind}`), detail, enabled === false ? t('common:state.disabled') : null].filter((text) => text !== null);
    return { id: `${kind} ${name}`, icon: kind, label: name, detail: more.join(' · '), run: () => go(to, search) };
  }
  const deeds = isAdmin
    ? [
        ...makable.map(([kind, to]) => ({ id: `new ${kind}`, icon: kind, label: t(`new.${kind}`), run: () => go(to, { create: 'new' }) })),
        ...(['disable', 'enable'] as const).map((name) => ({
          id: name,
          icon: 'setting',
          label: t(`${name}Any`),
          detail: t('verbHint'),
          stays: true,
          run: () => setQuery(`${t(`verbs.${name}`).split(',')[0]} `),
        })),
      ].filter(({ label }) => holdsWords(typed, label))
    : [];
  const pages = navigation.flatMap(({ entries }) =>
    entries
      .filter((entry) => isShown(entry, me))
      .map(({ id, to }) => ({ id, icon: id, label: t(`common:pages.${id}`), run: () => go(to) }))
      .filter(({ label }) => holdsWords(typed, label)),
  );
  const settings = settingPlaces
    .filter(({ admin, to }) => (role === 'member' ? isForMembers(to) : !admin || isAdmin))
    .filter(({ id }) => typed !== '' && holdsWords(typed, t(`settings.${id}`), t(`settingWords.${id}`)))
    .map(({ id, to }) => ({ id: `setting ${id}`, icon: 'setting', label: t(`settings.${id}`), run: () => go(to) }));
  const sections: Section[] = [
    { title: t('ids'), entries: ids },
    { title: t('pages'), entries: pages },
    { title: t('things'), entries: resources },
    { title: t('do'), entries: deeds },
    { title: t('settingsTitle'), entries: settings },
  ];
  return { isSearching: words !== '' && found.isFetching, sections: sections.filter(({ entries }) => entries.length > 0) };
}

/** Turns something on or off, after a question where that stops requests. */
function useSwitch() {
  const { t } = useTranslation(['palette', 'common']);
  const client = useQueryClient();
  return (kind: string, name: string, enabled: boolean) => {
    const send = async () => {
      try {
        await call(path(kind, name), { method: 'PATCH', body: { enabled } });
        await client.invalidateQueries();
        notifications.show({ message: t(enabled ? 'enabledOne' : 'disabledOne', { name }), color: 'green' });
      } catch (error) {
        describeFault(error as Error);
      }
    };
    if (enabled) return void send();
    ask({
      title: t('disableOne', { kind: t(`kinds.${kind}`), name }),
      children: t('disableHint'),
      labels: { confirm: t('disable'), cancel: t('common:actions.cancel') },
      confirmProps: { color: 'red.9' },
      onConfirm: () => void send(),
    });
  };
}

/** Whose a value is: it is sent in a body, once, when somebody asks. */
function useKeyLookup() {
  const { t } = useTranslation('palette');
  const navigate = useNavigate();
  return async (key: string) => {
    try {
      const { access_key, upstream_keys } = await call<FoundKey>('access-keys/lookup', { method: 'POST', body: { key: key.replace(/^Bearer\s+/, '') } });
      // A value is looked up because it turned up somewhere: there one sees where it was used, and disables or rotates it.
      const place = access_key ? { to: '/key-use', search: { key: access_key.name } } : upstream_keys[0] && placeOf('upstreams', upstream_keys[0].upstream);
      if (place) void navigate(place as never);
      else notifications.show({ message: t('nobodysKey'), color: 'gray' });
    } catch (error) {
      describeFault(error as Error);
    }
  };
}
