/** From a drawer to where scripts and rules are tried. A tab of its own: what is typed in the drawer stays. */
import { Anchor } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** What the studio begins with, as it is stored. */
export type StudioOwner = { upstream: string } | { model: string };

export function StudioLink({ tab, of }: { tab: 'scripts' | 'rules'; of: StudioOwner | undefined }) {
  const { t } = useTranslation('scripts');
  const search = new URLSearchParams({ tab, ...of });
  return (
    <Anchor size="sm" href={`/console/studio?${search}`} target="_blank" rel="noopener">
      {t(tab === 'rules' ? 'tryRules' : 'tryThem')}
    </Anchor>
  );
}
