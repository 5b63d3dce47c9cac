/** The search of pages itself. */
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { countOverlay } from '../components/dialogs.tsx';
import { useIsAdmin } from '../session/use-me.ts';
import { navigation } from './navigation.ts';

const [store, { open, toggle }] = createSpotlight();

/** Opens as it appears, then at each `asked` that follows. */
export function PaletteCore({ asked }: { asked: number }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const isAdmin = useIsAdmin();
  useEffect(() => (asked === 1 ? open() : toggle()), [asked]);
  const actions = navigation.map(({ id: section, entries }) => ({
    group: t(`sections.${section}`),
    actions: entries
      .filter(({ admin }) => !admin || isAdmin)
      .map(({ id, to, icon: Icon }) => ({
        id,
        label: t(`pages.${id}`),
        leftSection: <Icon size={18} stroke={1.6} aria-hidden />,
        onClick: () => void navigate({ to }),
      })),
  }));
  return (
    <Spotlight
      store={store}
      actions={actions}
      shortcut={null}
      onSpotlightOpen={() => countOverlay(1)}
      // The key that closed it is still on its way to what lies below.
      onSpotlightClose={() => setTimeout(() => countOverlay(-1))}
      nothingFound={t('palette.none')}
      scrollable
      maxHeight={420}
      searchProps={{ leftSection: <IconSearch size={18} aria-hidden />, placeholder: t('palette.placeholder'), 'aria-label': t('palette.placeholder') }}
    />
  );
}
