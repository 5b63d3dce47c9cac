/** The palette itself. */
import { Loader } from '@mantine/core';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { IconArrowRight, IconListSearch, IconMessages, IconSearch } from '@tabler/icons-react';
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { countOverlay } from '../../components/dialogs.tsx';
import { navigation } from '../navigation.ts';
import { CollectKeys } from './collect-keys.ts';
import { kindIcons } from './places.ts';
import { usePalette } from './use-palette.ts';

const [store, { open, toggle }] = createSpotlight();

const pageIcons = new Map(navigation.flatMap(({ entries }) => entries.map(({ id, icon }) => [id, icon])));
const iconOf = (icon: string) => kindIcons[icon] ?? pageIcons.get(icon) ?? { request: IconListSearch, session: IconMessages }[icon] ?? IconArrowRight;

/** Opens as it appears, then at each `asked` that follows. */
export function PaletteCore({ asked, query, setQuery }: { asked: number; query: string; setQuery: Dispatch<SetStateAction<string>> }) {
  const { t } = useTranslation(['palette', 'common']);
  // The field takes the focus some time after it is drawn first.
  const [hadFocus, setHadFocus] = useState(false);
  const { sections, isSearching } = usePalette(query, setQuery);
  // The library chooses the first as one types; what came after the last letter is chosen here.
  const list = useRef<HTMLDivElement>(null);
  const first = sections[0]?.entries[0]?.id;
  useEffect(() => {
    if (first === undefined) return;
    const timer = setTimeout(() => {
      for (const chosen of list.current?.querySelectorAll('[data-selected]') ?? []) chosen.removeAttribute('data-selected');
      list.current?.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
    });
    return () => clearTimeout(timer);
  }, [first]);
  useEffect(() => (asked === 1 ? open() : toggle()), [asked]);
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      // Spotlight blurs what is below by default: 40 ms a frame without a graphics processor, with every blink of the cursor.
      overlayProps={{ backgroundOpacity: 0.6 }}
      onSpotlightOpen={() => countOverlay(1)}
      // The key that closed it is still on its way to what lies below.
      onSpotlightClose={() => {
        setHadFocus(true);
        setTimeout(() => countOverlay(-1));
      }}
      attributes={{ content: { 'aria-label': t('common:palette.label') } }}
      styles={{ actionDescription: { opacity: 1 } }}
      scrollable
      maxHeight={460}
    >
      {!hadFocus && <CollectKeys onType={setQuery} />}
      <Spotlight.Search
        onFocus={() => setHadFocus(true)}
        leftSection={<IconSearch size={18} aria-hidden />}
        rightSection={isSearching ? <Loader size={16} aria-label={t('searching')} /> : undefined}
        placeholder={t('placeholder')}
        aria-label={t('placeholder')}
      />
      <Spotlight.ActionsList ref={list}>
        {sections.map(({ title, entries }) => (
          <Spotlight.ActionsGroup key={title} label={title}>
            {entries.map(({ id, icon, label, detail, stays, run }) => {
              const Icon = iconOf(icon);
              return (
                <Spotlight.Action
                  key={id}
                  label={label}
                  {...(detail !== undefined && { description: detail })}
                  leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
                  closeSpotlightOnTrigger={!stays}
                  onClick={run}
                />
              );
            })}
          </Spotlight.ActionsGroup>
        ))}
        {sections.length === 0 && <Spotlight.Empty>{isSearching ? t('searching') : t('none')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
